// SPDX-License-Identifier: Apache-2.0
#include "cli/catch/setup.hpp"

#include <fmt/format.h>

#include <array>
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
UMask=0077
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
#kernel.core_pattern=|/usr/bin/beamheap catch -o @DIR@ --else /usr/lib/systemd/systemd-coredump %P %u %g %s %t %c %h
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

}  // namespace

Status print_setup(const Context& context) {
    const Options& options = context.options();
    constexpr std::array ways{std::pair(std::string_view("systemd"), systemd_files),
                              std::pair(std::string_view("sidecar"), sidecar_files),
                              std::pair(std::string_view("docker"), docker_files)};
    for (const auto& [name, files] : ways) {
        if (options.install != name) continue;
        std::string text(files);
        text = replaced(std::move(text), "@PIPE@", options.pipe.empty() ? usual_pipe : options.pipe);
        text = replaced(std::move(text), "@DIR@", options.output.empty() ? usual_folder : options.output);
        return write_file("-", text, false);
    }
    return Error{ErrorCode::usage, fmt::format("--install: there is no way '{}'", options.install),
                 "systemd, sidecar or docker."};
}

}  // namespace beamheap::cli
