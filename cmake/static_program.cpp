// SPDX-License-Identifier: Apache-2.0
// What a program without shared objects must not do. Its C library would load those of the machine that it runs on,
// which are of another C library: elfutils asks for libdebuginfod before main(), line editing asks the services of
// nsswitch.conf for users. Both take their functions from here: there is no such object, and of users the one who asks
// is known, by $HOME.
//
// And what it has no use for, which would be a tenth of it: full-text search and trees of rectangles, whose tables
// nobody can make in a query or a database of ours, disassemblers, the functions of angles, which queries are refused
// (src/sql/query.cpp), patterns in the search for a line of the shell's history, and the demangler of what is said of
// an exception that nobody caught. SQLite, elfutils, libedit and the C++ library reach these by a function; it is found
// here first, so that the archive's is not linked.
//
// The same holds of what is at the end of this file: compressors that nothing here is written with, forms of zstd
// before 1.0, machines that no core image is of, ALTER TABLE. Their names are those of releases in hand, and other
// releases have others: each is weak, so that an archive's own stands where it is linked after all.
//
// Last come the facets of the C++ library's locale "C" for money, dates, collation, messages and numbers of wide
// characters, a thirtieth of the program. A stream has all of them made, so that nothing but their tables of functions
// can be missing.
#include <pwd.h>
#include <regex.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

struct sqlite3;

namespace __gnu_cxx {
void __verbose_terminate_handler();
void __verbose_terminate_handler() { std::abort(); }
}  // namespace __gnu_cxx

extern "C" {

// sqlite3BuiltinExtensions[] of SQLite's main.c: 0 is SQLITE_OK.
int sqlite3Fts3Init(sqlite3*) { return 0; }
int sqlite3Fts5Init(sqlite3*) { return 0; }
int sqlite3RtreeInit(sqlite3*) { return 0; }
// Hooks of libebl's back ends, which only disasm_cb() calls: -1 is a failure.
int i386_disasm() { return -1; }
int x86_64_disasm() { return -1; }
int riscv_disasm() { return -1; }

#define BEAMHEAP_NO_ANGLE(function) \
    double function(double) { return __builtin_nan(""); }
BEAMHEAP_NO_ANGLE(acos)
BEAMHEAP_NO_ANGLE(acosh)
BEAMHEAP_NO_ANGLE(asin)
BEAMHEAP_NO_ANGLE(asinh)
BEAMHEAP_NO_ANGLE(atan)
BEAMHEAP_NO_ANGLE(atanh)
BEAMHEAP_NO_ANGLE(cos)
BEAMHEAP_NO_ANGLE(cosh)
BEAMHEAP_NO_ANGLE(sin)
BEAMHEAP_NO_ANGLE(sinh)
BEAMHEAP_NO_ANGLE(tan)
BEAMHEAP_NO_ANGLE(tanh)
double atan2(double, double) { return __builtin_nan(""); }

// A line that holds the text as it stands has been found before (libedit's el_match).
int regcomp(regex_t*, const char*, int) { return REG_ESPACE; }
int regexec(const regex_t*, const char*, std::size_t, regmatch_t*, int) { return REG_NOMATCH; }
void regfree(regex_t*) {}

void* dlopen(const char*, int) noexcept { return nullptr; }
void* dlsym(void*, const char*) noexcept { return nullptr; }
int dlclose(void*) noexcept { return 0; }

void setpwent() {}
void endpwent() {}
passwd* getpwent() { return nullptr; }

int getpwnam_r(const char*, passwd*, char*, std::size_t, passwd** found) {
    *found = nullptr;
    return 0;
}

int getpwuid_r(uid_t user, passwd* about, char*, std::size_t, passwd** found) {
    *found = nullptr;
    char* home = user == getuid() ? std::getenv("HOME") : nullptr;
    if (home == nullptr) return 0;
    *about = {};
    about->pw_uid = user;
    about->pw_gid = getgid();
    about->pw_dir = home;
    *found = about;
    return 0;
}

passwd* getpwuid(uid_t user) {
    static passwd about;
    static char unused[1];
    passwd* found = nullptr;
    getpwuid_r(user, &about, unused, sizeof unused, &found);
    return found;
}

#define BEAMHEAP_WEAK __attribute__((weak))

// Where compressors are chosen by a level or a strategy: zstd_frame() names the only one that is left
// (src/bytes/compress.cpp), and nothing is written as LZ4 or bzip2.
#define BEAMHEAP_NEVER_CALLED(function) \
    BEAMHEAP_WEAK void function() { std::abort(); }
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_btlazy2)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_btlazy2_dictMatchState)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_btlazy2_extDict)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_greedy)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_greedy_dedicatedDictSearch)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_greedy_dedicatedDictSearch_row)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_greedy_dictMatchState)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_greedy_dictMatchState_row)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_greedy_extDict)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_greedy_extDict_row)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_greedy_row)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_lazy)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_lazy2)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_lazy2_dedicatedDictSearch)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_lazy2_dedicatedDictSearch_row)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_lazy2_dictMatchState)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_lazy2_dictMatchState_row)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_lazy2_extDict)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_lazy2_extDict_row)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_lazy2_row)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_lazy_dedicatedDictSearch)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_lazy_dedicatedDictSearch_row)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_lazy_dictMatchState)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_lazy_dictMatchState_row)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_lazy_extDict)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_lazy_extDict_row)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_lazy_row)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_btopt)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_btopt_dictMatchState)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_btopt_extDict)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_btultra)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_btultra2)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_btultra_dictMatchState)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_btultra_extDict)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_fast)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_fast_dictMatchState)
BEAMHEAP_NEVER_CALLED(ZSTD_compressBlock_fast_extDict)
BEAMHEAP_NEVER_CALLED(ZSTD_dedicatedDictSearch_lazy_loadDictionary)
BEAMHEAP_NEVER_CALLED(ZSTD_insertAndFindFirstIndex)
BEAMHEAP_NEVER_CALLED(ZSTD_row_update)
BEAMHEAP_NEVER_CALLED(ZSTD_updateTree)
BEAMHEAP_NEVER_CALLED(ZSTD_fillHashTable)
BEAMHEAP_NEVER_CALLED(LZ4_attach_HC_dictionary)
BEAMHEAP_NEVER_CALLED(LZ4_compress_HC_continue)
BEAMHEAP_NEVER_CALLED(LZ4_compress_HC_extStateHC_fastReset)
BEAMHEAP_NEVER_CALLED(LZ4_favorDecompressionSpeed)
BEAMHEAP_NEVER_CALLED(LZ4_initStreamHC)
BEAMHEAP_NEVER_CALLED(LZ4_loadDictHC)
BEAMHEAP_NEVER_CALLED(LZ4_resetStreamHC_fast)
BEAMHEAP_NEVER_CALLED(LZ4_saveDictHC)
BEAMHEAP_NEVER_CALLED(LZ4_setCompressionLevel)
BEAMHEAP_NEVER_CALLED(LZ4_sizeofStateHC)
BEAMHEAP_NEVER_CALLED(BZ2_compressBlock)
BEAMHEAP_NEVER_CALLED(BZ2_blockSort)

// Frames of zstd 0.5 to 0.7, of 2015 and 2016: a decoder that can't be had, and a size that is an error.
#define BEAMHEAP_NO_FORMER_ZSTD(version)                                                                          \
    BEAMHEAP_WEAK void* ZSTD##version##_createDCtx() { return nullptr; }                                          \
    BEAMHEAP_WEAK void* ZBUFF##version##_createDCtx() { return nullptr; }                                         \
    BEAMHEAP_WEAK std::size_t ZSTD##version##_freeDCtx(void*) { return 0; }                                       \
    BEAMHEAP_WEAK std::size_t ZBUFF##version##_freeDCtx(void*) { return 0; }                                      \
    BEAMHEAP_WEAK std::size_t ZSTD##version##_getFrameParams(void*, const void*, std::size_t) { return no_size; } \
    BEAMHEAP_WEAK void ZSTD##version##_findFrameSizeInfoLegacy(const void*, std::size_t, std::size_t* size,       \
                                                               unsigned long long* bound) {                       \
        *size = no_size;                                                                                          \
        *bound = static_cast<unsigned long long>(-2);                                                             \
    }                                                                                                             \
    BEAMHEAP_NEVER_CALLED(ZSTD##version##_decompress_usingDict)                                                   \
    BEAMHEAP_NEVER_CALLED(ZBUFF##version##_decompressContinue)                                                    \
    BEAMHEAP_NEVER_CALLED(ZBUFF##version##_decompressInitDictionary)
constexpr std::size_t no_size = static_cast<std::size_t>(-1);  // ZSTD_error_GENERIC; -2 is ZSTD_CONTENTSIZE_ERROR
BEAMHEAP_NO_FORMER_ZSTD(v05)
BEAMHEAP_NO_FORMER_ZSTD(v06)
BEAMHEAP_NO_FORMER_ZSTD(v07)

// Back ends of libebl for machines that core images are not read of: elfutils goes on without one (eblopenbackend.c).
#define BEAMHEAP_NO_BACK_END(function) \
    BEAMHEAP_WEAK void* function(void*, unsigned short, void*) { return nullptr; }
BEAMHEAP_NO_BACK_END(alpha_init)
BEAMHEAP_NO_BACK_END(arm_init)
BEAMHEAP_NO_BACK_END(bpf_init)
BEAMHEAP_NO_BACK_END(csky_init)
BEAMHEAP_NO_BACK_END(i386_init)
BEAMHEAP_NO_BACK_END(ia64_init)
BEAMHEAP_NO_BACK_END(m68k_init)
BEAMHEAP_NO_BACK_END(ppc64_init)
BEAMHEAP_NO_BACK_END(ppc_init)
BEAMHEAP_NO_BACK_END(riscv_init)
BEAMHEAP_NO_BACK_END(s390_init)
BEAMHEAP_NO_BACK_END(sh_init)
BEAMHEAP_NO_BACK_END(sparc_init)

// ALTER TABLE, which neither queries nor exports have, and the table of a file's pages. Names that are renamed by it
// are noted as they are parsed, and given back.
BEAMHEAP_WEAK int sqlite3DbstatRegister(sqlite3*) { return 0; }
BEAMHEAP_WEAK void sqlite3AlterFunctions() {}
BEAMHEAP_WEAK const void* sqlite3RenameTokenMap(void*, const void* named, const void*) { return named; }
BEAMHEAP_NEVER_CALLED(sqlite3AlterBeginAddColumn)
BEAMHEAP_NEVER_CALLED(sqlite3AlterDropColumn)
BEAMHEAP_NEVER_CALLED(sqlite3AlterFinishAddColumn)
BEAMHEAP_NEVER_CALLED(sqlite3AlterRenameColumn)
BEAMHEAP_NEVER_CALLED(sqlite3AlterRenameTable)
BEAMHEAP_WEAK void sqlite3RenameExprUnmap(void*, void*) {}
BEAMHEAP_WEAK void sqlite3RenameExprlistUnmap(void*, void*) {}
BEAMHEAP_WEAK void sqlite3RenameTokenRemap(void*, const void*, const void*) {}

// Write-ahead logs, which no database of ours is written with (wal.c): without one these are asked of none, and opening
// one fails (SQLITE_CANTOPEN).
#define BEAMHEAP_NO_LOG(function) \
    BEAMHEAP_WEAK void* sqlite3Wal##function(void*) { return nullptr; }
BEAMHEAP_WEAK int sqlite3WalOpen() { return 14; }
BEAMHEAP_NO_LOG(BeginReadTransaction)
BEAMHEAP_NO_LOG(BeginWriteTransaction)
BEAMHEAP_NO_LOG(Callback)
BEAMHEAP_NO_LOG(Checkpoint)
BEAMHEAP_NO_LOG(Close)
BEAMHEAP_NO_LOG(Dbsize)
BEAMHEAP_NO_LOG(EndReadTransaction)
BEAMHEAP_NO_LOG(EndWriteTransaction)
BEAMHEAP_NO_LOG(ExclusiveMode)
BEAMHEAP_NO_LOG(File)
BEAMHEAP_NO_LOG(FindFrame)
BEAMHEAP_NO_LOG(Frames)
BEAMHEAP_NO_LOG(HeapMemory)
BEAMHEAP_NO_LOG(Limit)
BEAMHEAP_NO_LOG(ReadFrame)
BEAMHEAP_NO_LOG(Savepoint)
BEAMHEAP_NO_LOG(SavepointUndo)
BEAMHEAP_NO_LOG(Undo)

// What stands in the object is the address of `functions`; its type is what a stream of wide characters asks for before
// main().
struct UnusedFacet {
    std::ptrdiff_t to_object;
    const void* type;
    void (*functions[13])();
};
#define BEAMHEAP_NO_FACET(name)                                                                                      \
    extern const char _ZTI##name[];                                                                                  \
    BEAMHEAP_WEAK UnusedFacet _ZTV##name = {                                                                         \
        0,                                                                                                           \
        _ZTI##name,                                                                                                  \
        {std::abort, std::abort, std::abort, std::abort, std::abort, std::abort, std::abort, std::abort, std::abort, \
         std::abort, std::abort, std::abort, std::abort}};
// What stands between facets of two forms of std::string where a program makes a locale with one of its own:
// std::locale asks for it by these members of std::locale::facet (_M_sso_shim, _M_cow_shim).
BEAMHEAP_NEVER_CALLED(_ZNKSt6locale5facet11_M_sso_shimEPKNS_2idE)
BEAMHEAP_NEVER_CALLED(_ZNKSt6locale5facet11_M_cow_shimEPKNS_2idE)
BEAMHEAP_NO_FACET(NSt7__cxx117collateIcEE)
BEAMHEAP_NO_FACET(NSt7__cxx118messagesIcEE)
BEAMHEAP_NO_FACET(NSt7__cxx119money_getIcSt19istreambuf_iteratorIcSt11char_traitsIcEEEE)
BEAMHEAP_NO_FACET(NSt7__cxx119money_putIcSt19ostreambuf_iteratorIcSt11char_traitsIcEEEE)
BEAMHEAP_NO_FACET(NSt7__cxx1110moneypunctIcLb0EEE)
BEAMHEAP_NO_FACET(NSt7__cxx1110moneypunctIcLb1EEE)
BEAMHEAP_NO_FACET(NSt7__cxx118time_getIcSt19istreambuf_iteratorIcSt11char_traitsIcEEEE)
BEAMHEAP_NO_FACET(St7collateIcE)
BEAMHEAP_NO_FACET(St8messagesIcE)
BEAMHEAP_NO_FACET(St9money_getIcSt19istreambuf_iteratorIcSt11char_traitsIcEEE)
BEAMHEAP_NO_FACET(St9money_putIcSt19ostreambuf_iteratorIcSt11char_traitsIcEEE)
BEAMHEAP_NO_FACET(St10moneypunctIcLb0EE)
BEAMHEAP_NO_FACET(St10moneypunctIcLb1EE)
BEAMHEAP_NO_FACET(St8time_getIcSt19istreambuf_iteratorIcSt11char_traitsIcEEE)
BEAMHEAP_NO_FACET(St8time_putIcSt19ostreambuf_iteratorIcSt11char_traitsIcEEE)
BEAMHEAP_NO_FACET(NSt7__cxx117collateIwEE)
BEAMHEAP_NO_FACET(NSt7__cxx118messagesIwEE)
BEAMHEAP_NO_FACET(NSt7__cxx119money_getIwSt19istreambuf_iteratorIwSt11char_traitsIwEEEE)
BEAMHEAP_NO_FACET(NSt7__cxx119money_putIwSt19ostreambuf_iteratorIwSt11char_traitsIwEEEE)
BEAMHEAP_NO_FACET(NSt7__cxx1110moneypunctIwLb0EEE)
BEAMHEAP_NO_FACET(NSt7__cxx1110moneypunctIwLb1EEE)
BEAMHEAP_NO_FACET(NSt7__cxx118time_getIwSt19istreambuf_iteratorIwSt11char_traitsIwEEEE)
BEAMHEAP_NO_FACET(St7collateIwE)
BEAMHEAP_NO_FACET(St8messagesIwE)
BEAMHEAP_NO_FACET(St9money_getIwSt19istreambuf_iteratorIwSt11char_traitsIwEEE)
BEAMHEAP_NO_FACET(St9money_putIwSt19ostreambuf_iteratorIwSt11char_traitsIwEEE)
BEAMHEAP_NO_FACET(St10moneypunctIwLb0EE)
BEAMHEAP_NO_FACET(St10moneypunctIwLb1EE)
BEAMHEAP_NO_FACET(St8time_getIwSt19istreambuf_iteratorIwSt11char_traitsIwEEE)
BEAMHEAP_NO_FACET(St8time_putIwSt19ostreambuf_iteratorIwSt11char_traitsIwEEE)
BEAMHEAP_NO_FACET(St7num_getIwSt19istreambuf_iteratorIwSt11char_traitsIwEEE)
BEAMHEAP_NO_FACET(St7num_putIwSt19ostreambuf_iteratorIwSt11char_traitsIwEEE)

}  // extern "C"
