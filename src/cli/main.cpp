#include "cli/commands.hpp"

int main(int argc, char** argv) { return beamheap::cli::run(argc, argv); }
