# Profiling runs without a GPU: a stand-in for NVML and the CUDA driver that records its calls.
add_library(fake-nvml MODULE EXCLUDE_FROM_ALL tests/fake-nvml/fake_nvml.c)
target_link_libraries(fake-nvml PRIVATE strata_flags)
add_dependencies(unit fake-nvml)
set(fake_nvml_env "STRATA_NVML_PATH=$<TARGET_FILE:fake-nvml>" "STRATA_CUDA_PATH=$<TARGET_FILE:fake-nvml>")
foreach(name clocks gpu_device workload)
    if(TARGET unit.driver.${name})
        add_dependencies(unit.driver.${name} fake-nvml)
        set_tests_properties(unit.driver.${name} PROPERTIES ENVIRONMENT "${fake_nvml_env}")
    endif()
endforeach()
# Operators on an NPU: a stand-in for CANN that checks the calls.
add_library(fake-acl MODULE EXCLUDE_FROM_ALL tests/fake-acl/fake_acl.c)
target_link_libraries(fake-acl PRIVATE strata_flags)
set_target_properties(fake-acl PROPERTIES C_VISIBILITY_PRESET default)
add_dependencies(unit fake-acl)
if(TARGET unit.opdb.measure.ascend)
    add_dependencies(unit.opdb.measure.ascend fake-acl)
    set_tests_properties(unit.opdb.measure.ascend PROPERTIES ENVIRONMENT "STRATA_ASCEND_PATH=$<TARGET_FILE:fake-acl>")
endif()
if(TARGET strata)
    foreach(part Timeline Clocks Results Code Errors) # they wait a lot, so side by side
        string(TOLOWER ${part} name)
        add_test(NAME gpu.profile-${name} COMMAND Python3::Interpreter
            ${CMAKE_SOURCE_DIR}/tests/gpu/profile.py ${run_strata} $<TARGET_FILE:fake-nvml> ${part})
    endforeach()
    add_test(NAME gpu.diseases COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/gpu/diseases.py ${run_strata} ${CMAKE_SOURCE_DIR})
endif()
