// SPDX-License-Identifier: Apache-2.0
// Where the paths of a node lie: links and ".." as it follows them itself, below a root that may be another one.
#include "cli/code/node_paths.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace beamheap;
using namespace beamheap::cli;
namespace fs = std::filesystem;

TEST_CASE("paths of a node are followed below its root", "[code]") {
    std::string root = "/tmp/beamheap-paths-XXXXXX";
    REQUIRE(::mkdtemp(root.data()) != nullptr);
    fs::create_directories(root + "/app/lib/shop/ebin");
    fs::create_directories(root + "/bin");
    fs::create_directories(root + "/proc/1");
    std::ofstream(root + "/app/shop.ez") << "PK";
    fs::create_directory_symlink("/app/lib", root + "/current");  // of the root, not of ours
    fs::create_directory_symlink("../../../../app", root + "/bin/up");
    fs::create_directory_symlink("/round", root + "/round");
    fs::create_directory_symlink("/proc/1", root + "/hidden");

    const auto found = [&root](std::string_view path) {
        const auto place = find_of_node(root, path);
        return place ? place->path.substr(root.size()) + (place->is_folder ? "/" : "") : std::string("none");
    };
    CHECK(found("/app/lib/shop/ebin") == "/app/lib/shop/ebin/");
    CHECK(found("/bin/../app/./lib//shop/ebin/") == "/app/lib/shop/ebin/");
    CHECK(found("/../../app/lib") == "/app/lib/");
    CHECK(found("/current/shop/ebin") == "/app/lib/shop/ebin/");
    CHECK(found("/current/../shop.ez") == "/app/shop.ez");  // what stands before a link's target is not where it was
    CHECK(found("/bin/up/lib") == "/app/lib/");
    // An archive stands for the folders in it.
    CHECK(found("/app/shop.ez/shop/ebin") == "/app/shop.ez");

    CHECK(found("/app/lib/cart/ebin") == "none");
    CHECK(found("/missing/../app/lib") == "none");
    CHECK(found("/round/app") == "none");
    CHECK(found("app/lib") == "none");
    CHECK(found("/") == "none");
    CHECK(found(std::string_view("/app\0/lib", 9)) == "none");
    CHECK(found("/proc/1") == "none");
    CHECK(found("/bin/../proc/1") == "none");
    CHECK(found("/hidden") == "none");
    fs::remove_all(root);
}
