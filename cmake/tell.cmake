# cmake -DPROGRAM=... -DINTO=... -P tell.cmake: the manual page and the completions, as the program tells them, into a folder.
function(tell name)
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_FILE ${INTO}/${name} RESULT_VARIABLE ended)
  if(NOT ended EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ${ARGN}: ${ended}")
  endif()
endfunction()

file(MAKE_DIRECTORY ${INTO})
tell(beamheap.1 help --format man)
tell(beamheap.bash completion bash)
tell(_beamheap completion zsh)
tell(beamheap.fish completion fish)
# -n: without name and time, so that the same sources make the same package.
execute_process(COMMAND gzip -9nf ${INTO}/beamheap.1 RESULT_VARIABLE ended)
if(NOT ended EQUAL 0)
  message(FATAL_ERROR "gzip: ${ended}")
endif()
