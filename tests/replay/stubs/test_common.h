// The reader of files that pto-isa has for its tests.
#pragma once
#include <cstdio>
#include <string>
namespace PtoTestCommon
{
inline bool ReadFile(const std::string &path, size_t &size, void *buffer, size_t room)
{
    FILE *file = fopen(path.c_str(), "rb");
    if (file == nullptr)
        return false;
    size = fread(buffer, 1, room, file);
    return fclose(file) == 0;
}
} // namespace PtoTestCommon
