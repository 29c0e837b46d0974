// What a program without shared objects must not do. Its C library would load those of the machine that it runs on, which are
// of another C library: elfutils asks for libdebuginfod before main(), line editing asks the services of nsswitch.conf for users.
// Both take their functions from here: there is no such object, and of users the one who asks is known, by $HOME.
//
// And what it has no use for, which would be a tenth of it: full-text search and trees of rectangles, whose tables nobody can make
// in a query or a database of ours, disassemblers, the functions of angles, which queries are refused (src/sql/query.cpp), patterns in
// the search for a line of the shell's history, and the demangler of what is said of an exception that nobody caught. SQLite, elfutils,
// libedit and the C++ library reach these by a function; it is found here first, so that the archive's is not linked.
#include <pwd.h>
#include <regex.h>
#include <unistd.h>

#include <cerrno>
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

#define BEAMHEAP_NO_ANGLE(function) double function(double) { return __builtin_nan(""); }
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

}  // extern "C"
