// SPDX-License-Identifier: Apache-2.0
#include "cli/console/sandbox.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#if defined(__has_include) && __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#define BEAMHEAP_HAS_LANDLOCK 1
#endif

namespace beamheap::cli {
namespace {

Sandbox& state() {
    static Sandbox sandbox;
    return sandbox;
}

// ---- Landlock

// The structure as Linux 6.12 has it: a header of the system's may be older. A kernel takes those members that its
// version of the interface knows, if it is told their size.
struct Ruleset {
    std::uint64_t files, network, scoped;
};

// Rights by the version that brought them. READ_FILE (1 << 2) and READ_DIR (1 << 3) are not among them.
constexpr std::uint64_t first_files = ((1u << 13) - 1) & ~((1u << 2) | (1u << 3));
constexpr std::uint64_t refer = 1u << 13, truncate_file = 1u << 14, ioctl_of_devices = 1u << 15;
constexpr std::uint64_t tcp = 3, abstract_sockets = 1;
// Those among them that who makes files keeps, in its folder and below.
constexpr std::uint64_t write_file_right = 1u << 1, remove_file = 1u << 5, make_folder_right = 1u << 7,
                        make_file = 1u << 8;

#if defined(BEAMHEAP_HAS_LANDLOCK) && defined(SYS_landlock_create_ruleset)
// A folder that is not there keeps nothing.
bool keep_rights(int rules, const std::string& folder, std::uint64_t rights) {
    const int descriptor = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    landlock_path_beneath_attr rule{};
    rule.allowed_access = rights;
    rule.parent_fd = descriptor;
    const bool kept = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    ::close(descriptor);
    return kept;
}
#endif

std::string enter_landlock(const StillNeeded& needed, int& version) {
#if defined(BEAMHEAP_HAS_LANDLOCK) && defined(SYS_landlock_create_ruleset)
    const long known = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (known <= 0) return "the kernel has no Landlock";
    Ruleset ruleset{first_files, 0, 0};
    std::size_t size = sizeof ruleset.files;
    if (known >= 2) ruleset.files |= refer;
    if (known >= 3) ruleset.files |= truncate_file;
    if (known >= 4) ruleset.network = tcp, size = offsetof(Ruleset, scoped);
    if (known >= 5) ruleset.files |= ioctl_of_devices;
    if (known >= 6) ruleset.scoped = abstract_sockets, size = sizeof ruleset;
    const int rules = static_cast<int>(syscall(SYS_landlock_create_ruleset, &ruleset, size, 0));
    if (rules < 0) return "Landlock is refused here";
    bool entered = true;
    for (const std::string& folder : needed.named_in)
        entered = keep_rights(rules, folder, make_file | (needed.replaces ? remove_file : 0)) && entered;
    const std::uint64_t filling =
        (write_file_right | make_file | make_folder_right | remove_file | truncate_file) & ruleset.files;
    for (const std::string& folder : needed.filled) entered = keep_rights(rules, folder, filling) && entered;
    entered = entered && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    ::close(rules);
    if (!entered) return "Landlock is refused here";
    version = static_cast<int>(known);
    return {};
#else
    static_cast<void>(needed), static_cast<void>(version);
    return "this build knows no Landlock";
#endif
}

// ---- seccomp

#if defined(__x86_64__)
constexpr std::uint32_t own_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t own_architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t own_architecture = 0;
#endif

// Calls that are refused whatever their arguments are. Files by name, sockets, programs, other processes, the system.
constexpr int refused_calls[] = {
#ifdef SYS_creat  // which arm64 has only in the forms that end with "at"
    SYS_creat,
    SYS_symlink,
    SYS_rmdir,
    SYS_mknod,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
    SYS_utime,
    SYS_utimes,
    SYS_futimesat,
#endif
    SYS_symlinkat,
    SYS_mknodat,
    SYS_truncate,
    SYS_fchmodat,
    SYS_fchownat,
    SYS_utimensat,
    SYS_fchmod,
    SYS_fchown,
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    SYS_execve,
    SYS_execveat,
    SYS_socket,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_setns,
    SYS_unshare,
    SYS_add_key,
    SYS_keyctl,
    SYS_request_key,
    SYS_bpf,
    SYS_userfaultfd,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_process_vm_writev,
    SYS_io_setup,
    SYS_io_submit,
    SYS_shmget,
    SYS_shmat,
    SYS_shmctl,
    SYS_msgget,
    SYS_msgsnd,
    SYS_semget,
    SYS_mq_open,
    SYS_mq_unlink,
    SYS_quotactl,
    SYS_swapon,
    SYS_swapoff,
    SYS_reboot,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_acct,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_sethostname,
    SYS_setdomainname};
// Those by which a file gets and loses its name, which who makes one needs.
constexpr int calls_of_names[] = {
#ifdef SYS_link
    SYS_rename,    SYS_link,   SYS_unlink,
#endif
#ifdef SYS_renameat
    SYS_renameat,
#endif
    SYS_renameat2, SYS_linkat, SYS_unlinkat};
// Who fills a folder.
constexpr int calls_of_folders[] = {
#ifdef SYS_mkdir
    SYS_mkdir,
#endif
    SYS_mkdirat};
// Those that need a process of ours to look into; a running VM's threads may be held (ptrace), and sampled.
constexpr int refused_alone[] = {SYS_ptrace, SYS_process_vm_readv, SYS_perf_event_open};
// Calls whose arguments stand in memory, where a filter can't look, and all that are newer than this table: as on a
// kernel that has none of them.
constexpr int unknown_calls[] = {SYS_io_uring_setup,
                                 SYS_io_uring_enter,
                                 SYS_io_uring_register,
#ifdef SYS_openat2
                                 SYS_openat2,
#else
                                 437,
#endif
                                 428,
                                 429,
                                 430,
                                 431,
                                 432,
                                 433,  // open_tree, move_mount, fsopen, fsconfig, fsmount, fspick
                                 438,  // pidfd_getfd
                                 442,
                                 452,
                                 463,
                                 466,
                                 467,
                                 469};  // mount_setattr, fchmodat2, {set,remove}xattrat, ...
constexpr std::uint32_t newest_call = 470;

class Filter {
public:
    void add(std::uint16_t code, std::uint32_t value, std::uint8_t if_so = 0, std::uint8_t if_not = 0) {
        program_.push_back({code, if_so, if_not, value});
    }
    void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
    void end(std::uint32_t action) { add(BPF_RET | BPF_K, action); }
    /// Ends with `action` where what was loaded is `value`.
    void if_equal(std::uint32_t value, std::uint32_t action) {
        add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
        end(action);
    }
    /// Where it is this call, and argument number `argument` has one of `bits`: ends with `action`; else allows it.
    void if_any(int call, unsigned argument, std::uint32_t bits, std::uint32_t action) {
        add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4);
        load(low_half(argument));
        add(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
        end(action);
        end(SECCOMP_RET_ALLOW);
    }
    bool set() {
        sock_fprog program{static_cast<unsigned short>(program_.size()), program_.data()};
        // SPEC_ALLOW (Linux 4.17): kernels before 5.16 would make all of the program slower for a filter.
        constexpr unsigned with_speculation = 1u << 2;
        return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, with_speculation, &program) == 0 ||
               syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
    }
    // Of an argument of 64 bits; both architectures are little endian.
    static std::size_t low_half(unsigned argument) { return offsetof(seccomp_data, args) + argument * 8; }

private:
    std::vector<sock_filter> program_;
};

std::string enter_seccomp(const StillNeeded& needed) {
    if (own_architecture == 0) return "no filter is known for this processor";
    constexpr std::uint32_t refuse = SECCOMP_RET_ERRNO | EPERM, unknown = SECCOMP_RET_ERRNO | ENOSYS;
    Filter filter;
    filter.load(offsetof(seccomp_data, arch));
    filter.add(BPF_JMP | BPF_JEQ | BPF_K, own_architecture, 1, 0);
    filter.end(refuse);  // 32-bit calls
    filter.load(offsetof(seccomp_data, nr));
    filter.add(BPF_JMP | BPF_JGT | BPF_K, newest_call, 0, 1);
    filter.end(unknown);  // those of x32, too
    for (const int call : refused_calls) filter.if_equal(static_cast<std::uint32_t>(call), refuse);
    for (const int call : unknown_calls) filter.if_equal(static_cast<std::uint32_t>(call), unknown);
    if (!needed.pairs) filter.if_equal(SYS_socketpair, refuse);
    if (!needed.answers) {
#ifdef SYS_accept
        filter.if_equal(SYS_accept, refuse);
#endif
        filter.if_equal(SYS_accept4, refuse);
    }
    if (!needed.other_processes)
        for (const int call : refused_alone) filter.if_equal(static_cast<std::uint32_t>(call), refuse);
    const bool fills = !needed.filled.empty() || needed.files_anywhere, names = fills || !needed.named_in.empty();
    if (!names)
        for (const int call : calls_of_names) filter.if_equal(static_cast<std::uint32_t>(call), refuse);
    if (!fills) {
        for (const int call : calls_of_folders) filter.if_equal(static_cast<std::uint32_t>(call), refuse);
        // O_TRUNC empties a file that is opened for reading.
        constexpr std::uint32_t writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
#ifdef SYS_open
        filter.if_any(SYS_open, 1, writing, refuse);
#endif
        filter.if_any(SYS_openat, 2, writing, refuse);
    }
    // Letters typed into the terminal, which a shell would run afterwards.
    filter.add(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 6);
    filter.load(Filter::low_half(1));
    filter.if_equal(TIOCSTI, refuse);
    filter.if_equal(0x541C, refuse);  // TIOCLINUX, which pastes
    filter.end(SECCOMP_RET_ALLOW);
    filter.end(SECCOMP_RET_ALLOW);
    return filter.set() ? std::string() : "seccomp is refused here";
}

// What traces a program by being in it writes its own files, as this program would.
#ifdef BEAMHEAP_NO_SANDBOX
constexpr bool built_without = true;
#else
constexpr bool built_without = false;
#endif

bool is_watched_from_within() {
    const char* const loaded = std::getenv("LD_PRELOAD");
    return loaded != nullptr && std::strstr(loaded, "vgpreload") != nullptr;
}

}  // namespace

Sandbox enter_sandbox(const StillNeeded& needed) {
    Sandbox& now = state();
    if (built_without) {
        now.why_not = "this build writes files of its own";
        return now;
    }
    if (is_watched_from_within()) {
        now.why_not = "valgrind writes files of its own";
        return now;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        now.why_not = "the kernel has neither Landlock nor seccomp";
        return now;
    }
    if (needed.other_processes) now.why_not = "Landlock would hide the running VM";
    else now.why_not = enter_landlock(needed, now.landlock);
    const std::string no_filter = enter_seccomp(needed);
    now.seccomp = no_filter.empty();
    if (!now.seccomp) now.why_not += (now.why_not.empty() ? "" : "; ") + no_filter;
    return now;
}

namespace {
bool allowed = false;  // written by main() alone
}
void allow_sandbox() { allowed = true; }
bool sandbox_allowed() { return allowed; }

const Sandbox& sandbox() { return state(); }

void stay_outside(std::string why_not) { state().why_not = std::move(why_not); }

}  // namespace beamheap::cli
