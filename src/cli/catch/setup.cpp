// SPDX-License-Identifier: Apache-2.0
#include "cli/catch/setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/console/output_file.hpp"

namespace beamheap::cli {
namespace {

constexpr std::string_view usual_pipe = "/run/beamheap/dump.pipe", usual_folder = "/var/lib/beamheap";

// A unit beside the node's own, as its user, and what the node's unit needs for it. The kernel's handler stands
// commented out: it is for the whole machine.
constexpr std::string_view systemd_files = R"(# /etc/systemd/system/beamheap-catch.service
[Unit]
Description=Answers about Erlang nodes that die
Documentation=man:beamheap(1)

[Service]
# The node's own user: the pipe is for its owner alone.
User=erlang
ExecStart=/usr/bin/beamheap catch --pipe @PIPE@ -o @DIR@ --keep dump
RuntimeDirectory=beamheap
RuntimeDirectoryMode=0700
# A pipe outlives a restart, so that no node writes a file in its place.
RuntimeDirectoryPreserve=restart
StateDirectory=beamheap
StateDirectoryMode=0700
@WRITES@UMask=0077
Restart=always
RestartSec=1
# What is begun is brought to its end.
KillMode=mixed
TimeoutStopSec=90
Nice=5
MemoryMax=2G
OOMPolicy=continue
NoNewPrivileges=yes
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateNetwork=yes
ProtectProc=invisible
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service landlock_create_ruleset landlock_add_rule landlock_restrict_self seccomp
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target

# /etc/systemd/system/NODE.service.d/beamheap.conf
[Unit]
Wants=beamheap-catch.service
After=beamheap-catch.service

[Service]
Environment=ERL_CRASH_DUMP=@PIPE@
# Where nobody reads the pipe, a node would wait at its death for good; so it waits no longer than this.
Environment=ERL_CRASH_DUMP_SECONDS=30

# /etc/sysctl.d/60-beamheap.conf
# Also deaths in native code, of the whole machine: take the signs away. The limit makes the kernel wait.
#kernel.core_pattern=@PATTERN@
#kernel.core_pipe_limit=16
)";

constexpr std::string_view sidecar_files =
    R"(# A pod's manifest: the node's container, and one beside it that reads the pipe.
# Both run as one user, since the pipe is for its owner alone.
apiVersion: v1
kind: Pod
metadata:
  name: NODE
spec:
  # More than ERL_CRASH_DUMP_SECONDS, and time for the answers.
  terminationGracePeriodSeconds: 60
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
  initContainers:
    # Started before the node and ended after it (Kubernetes 1.29 and newer).
    - name: beamheap
      image: BEAMHEAP-IMAGE
      restartPolicy: Always
      command: ["beamheap"]
      args: ["catch", "--pipe", "/deaths/dump.pipe", "-o", "/deaths/kept", "--keep", "dump", "--disk", "2GiB", "--free", "100MiB"]
      resources:
        requests: {cpu: 10m, memory: 32Mi}
        limits: {memory: 1Gi}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: ["ALL"]}
        seccompProfile: {type: RuntimeDefault}
      volumeMounts:
        - {name: deaths, mountPath: /deaths}
        - {name: tmp, mountPath: /tmp}
  containers:
    - name: node
      image: NODE-IMAGE
      env:
        - {name: ERL_CRASH_DUMP, value: /deaths/dump.pipe}
        # Where nobody reads the pipe, the node waits at its death no longer than this.
        - {name: ERL_CRASH_DUMP_SECONDS, value: "30"}
      volumeMounts:
        - {name: deaths, mountPath: /deaths}
  volumes:
    # Outlives the containers, not the pod: a volume claim in its place does.
    - name: deaths
      emptyDir: {sizeLimit: 3Gi}
    - name: tmp
      emptyDir: {sizeLimit: 1Gi}
)";

constexpr std::string_view docker_files =
    R"(# compose.yaml: the node, and a container beside it that reads the pipe. Both run as one user.
services:
  beamheap:
    image: BEAMHEAP-IMAGE
    command: ["beamheap", "catch", "--pipe", "/deaths/dump.pipe", "-o", "/deaths/kept", "--keep", "dump"]
    user: "10001:10001"
    restart: always
    read_only: true
    network_mode: none
    cap_drop: ["ALL"]
    security_opt: ["no-new-privileges:true"]
    mem_limit: 1g
    stop_grace_period: 90s
    tmpfs: ["/tmp"]
    volumes: ["deaths:/deaths"]
  node:
    image: NODE-IMAGE
    user: "10001:10001"
    depends_on: ["beamheap"]
    environment:
      ERL_CRASH_DUMP: /deaths/dump.pipe
      # Where nobody reads the pipe, the node waits at its death no longer than this.
      ERL_CRASH_DUMP_SECONDS: "30"
    stop_grace_period: 60s
    volumes: ["deaths:/deaths"]
volumes:
  deaths: {}
)";

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

constexpr std::size_t longest_pattern = 127;  // of kernel.core_pattern

// Units, and the kernel's pattern more so, have rules of their own for all other characters.
bool is_plain(std::string_view path) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@:";
    return path.starts_with('/') && path.find_first_not_of(plain) == path.npos;
}

Result<std::string> systemd_text(const Options& options) {
    const std::string pipe(options.pipe.empty() ? usual_pipe : options.pipe),
        folder(options.output.empty() ? usual_folder : options.output);
    for (const std::string& path : {pipe, folder})
        if (!is_plain(path))
            return Error{ErrorCode::usage,
                         fmt::format("--install systemd: '{}' can't stand in a unit and in the kernel's pattern", path),
                         "An absolute path of letters, digits and / . _ - + @ :"};
    std::string writes;  // what the unit's own folders don't have
    if (pipe != usual_pipe)
        writes += fmt::format("ReadWritePaths={}\n", pipe.substr(0, std::max<std::size_t>(pipe.rfind('/'), 1)));
    if (folder != usual_folder) writes += fmt::format("ReadWritePaths={}\n", folder);
    if (!writes.empty()) writes = "# These are to be there, and the user's own.\n" + writes;
    const std::string pattern = fmt::format(
        "|/usr/bin/beamheap catch -o {} --else /usr/lib/systemd/systemd-coredump %P %u %g %s %t %c %h", folder);
    if (pattern.size() > longest_pattern)
        return Error{ErrorCode::usage,
                     fmt::format("--install systemd: with '{}' the kernel's pattern has {} bytes, and {} are its most",
                                 folder, pattern.size(), longest_pattern),
                     "A folder with a shorter name."};
    std::string text(systemd_files);
    for (const auto& [what, by] : {std::pair(std::string_view("@PIPE@"), std::string_view(pipe)),
                                   {"@DIR@", folder},
                                   {"@WRITES@", writes},
                                   {"@PATTERN@", pattern}})
        text = replaced(std::move(text), what, by);
    return text;
}

}  // namespace

Status print_setup(const Context& context) {
    const Options& options = context.options();
    if (options.install == "systemd") {
        BH_TRY(const std::string text, systemd_text(options));
        return write_file("-", text, false);
    }
    for (const auto& [name, files] :
         {std::pair(std::string_view("sidecar"), sidecar_files), std::pair(std::string_view("docker"), docker_files)}) {
        if (options.install != name) continue;
        if (!options.pipe.empty() || !options.output.empty())
            return Error{ErrorCode::usage, fmt::format("--install {}: --pipe and -o are of systemd's files", name),
                         "In containers both stand on the volume that the manifest names: change them there."};
        return write_file("-", files, false);
    }
    return Error{ErrorCode::usage, fmt::format("--install: there is no way '{}'", options.install),
                 "systemd, sidecar or docker."};
}

}  // namespace beamheap::cli
