# What the launcher and tests/run share: Debian packages, and one build of one tree at a time.
# Sourced by a POSIX shell with $root set to the source tree. Says all that it says on standard error.

say() { printf 'beamheap: %s\n' "$*" >&2; }

# The launcher's own failures end with 125, which no answer of beamheap's ends with.
cannot() { say "$@"; exit 125; }

# listed FILE... : the packages that cmake/FILE lists, on one line
listed() { (cd "$root/cmake" && sed 's/#.*//' "$@") | tr -s '\n' ' '; }

# missing_packages FILE... : those of them that are not installed
missing_packages() {
    wanted=$(listed "$@")
    # shellcheck disable=SC2086
    dpkg-query -W -f '${Package} ${db:Status-Status}\n' $wanted 2>/dev/null | awk -v wanted="$wanted" '
        $2 == "installed" { have[$1] = 1 }
        END { n = split(wanted, names, " "); for (i = 1; i <= n; ++i) if (!(names[i] in have)) line = line " " names[i]; print substr(line, 2) }'
}

# as_root COMMAND... : as root, by sudo where needed
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

apt() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@"; }

# elsewhere FILE... : how to install them where there is no apt: by the names of the package manager that is there
elsewhere() {
    for manager in dnf apk pacman; do
        command -v $manager >/dev/null || continue
        case $manager in
            dnf) how="dnf install" ;;
            apk) how="apk add" ;;
            pacman) how="pacman -S --needed" ;;
        esac
        # shellcheck disable=SC2046
        echo "As root, then run this again: $how" $(cd "$root/cmake" && sed 's/#.*//' "$@" |
            awk -v manager=$manager 'NR == FNR { if ($1 == "debian") for (i = 2; i <= NF; ++i) { if ($i == manager) column = i }
                else if ($column != "-") name[$1] = $column; known[$1] = 1; next }
                NF { if (!($1 in known)) print $1; else if ($1 in name) print name[$1] }' packages-elsewhere.txt - | sort -u)
        return
    done
    echo "Install what these Debian packages hold, then run this again: $(listed "$@")"
}

# install_packages LOG FILE... : installs what is missing; where there is no dpkg it only looks for a compiler
install_packages() {
    log=$1; shift
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        if command -v cmake >/dev/null && command -v pkg-config >/dev/null &&
            { command -v c++ || command -v g++ || command -v clang++; } >/dev/null; then return; fi
        cannot "this is not a Debian-like system, and cmake, pkg-config or a C++ compiler is missing. $(elsewhere "$@")"
    fi
    missing=$(missing_packages "$@")
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        cannot "Debian packages are missing, and installing them takes root or sudo. As root:" \
            "apt-get update && apt-get install --no-install-recommends $missing"
    fi
    say "installing Debian packages: $missing"
    # shellcheck disable=SC2086
    { apt install --no-install-recommends $missing ||
        { apt update && apt install --no-install-recommends $missing; }; } >"$log" 2>&1 </dev/null || {
        tail -n 15 "$log" >&2
        cannot "the packages could not be installed; the whole log: $log. As root:" \
            "apt-get update && apt-get install --no-install-recommends $missing"
    }
}

# parallel_jobs : as many compilers as there are cores, and as memory of 1 GB each allows
parallel_jobs() {
    awk -v cores="$(nproc)" '/^MemTotal:/ { fit = int($2 / 1000000) } END { if (fit < 1) fit = 1; print cores < fit ? cores : fit }' /proc/meminfo
}

# build_tree TREE OPTION... : configures and builds all of TREE; OPTIONs go to cmake. Call it under the lock.
build_tree() {
    tree=$1; shift
    # A tree that was copied from elsewhere with its cache can't be reconfigured.
    home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$tree/CMakeCache.txt" 2>/dev/null || true)
    [ -z "$home" ] || [ "$home" -ef "$root" ] || rm -rf "$tree"
    mkdir -p "$tree" && : >"$tree/.building" || cannot "can't write to $tree: remove it, if another user made it"
    if [ ! -e "$tree/CMakeCache.txt" ] && command -v ninja >/dev/null; then set -- -G Ninja "$@"; fi
    { cmake -S "$root" -B "$tree" "$@" && cmake --build "$tree" --parallel "$(parallel_jobs)"; } \
        >"$tree/build.log" 2>&1 </dev/null 9>&- || {
        tail -n 30 "$tree/build.log" >&2
        cannot "the build failed; the whole log: $tree/build.log"
    }
    mv "$tree/.building" "$tree/.stamp"
}

# with_lock COMMAND... : one build at a time; whoever comes second waits and then finds it done
with_lock() {
    mkdir -p "$root/build" 2>/dev/null && : >>"$root/build/.lock" || cannot "can't write to $root/build"
    exec 9>>"$root/build/.lock"
    if command -v flock >/dev/null && ! flock -n 9; then
        say "waiting for another build of this tree"
        flock 9
    fi
    "$@"
    exec 9>&-
}

# The options of the binary that users run. Warnings are for the other builds, and for CI. It is mostly built as a whole, and
# somebody waits for it: as few and as large batches as memory of 1 GB each allows.
release_options() {
    if command -v dpkg-query >/dev/null; then static=ON; else static=OFF; fi
    echo "-DCMAKE_BUILD_TYPE=Release -DBEAMHEAP_STATIC=$static -DBEAMHEAP_WARNINGS=OFF -DBEAMHEAP_BATCH=20 -DBEAMHEAP_PRECOMPILED=ON"
}

# Whether a source changed since the last good build, which .stamp is as old as the start of. -cnewer sees copies with kept
# dates, too, and a folder counts as changed when a file in it comes or goes. The program looks the same way, faster.
stale() {
    [ ! -x "$root/build/release/beamheap" ] || [ ! -e "$root/build/release/.stamp" ] ||
        [ -n "$(find "$root/src" "$root/formats" "$root/include" "$root/cmake" "$root/CMakeLists.txt" \
            -cnewer "$root/build/release/.stamp" -print -quit 2>/dev/null)" ]
}

# For the launcher, under the lock: what another call has built meanwhile is not built again.
build_release() {
    stale || return 0
    install_packages "$root/build/packages.log" packages-build.txt
    say "building in $root/build/release (the first time, and when sources have changed)"
    # shellcheck disable=SC2046
    build_tree "$root/build/release" $(release_options)
}
