package io.seriatim.onnx.proto;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A tensor of a file. Its elements are in one place: raw bytes, numbers, texts, or another file.
 *
 * @param name
 *            its name
 * @param element
 *            the number of the type of its elements
 * @param dims
 *            its dimensions, as they are in the file
 * @param raw
 *            the elements in little-endian order, a view of the file; null if they are elsewhere
 * @param numbers
 *            the elements one by one: whole numbers, or the bits of floating-point ones
 * @param texts
 *            the elements, if they are texts
 * @param external
 *            where in another file the elements are: location, offset, length; null if they are in this one
 */
public record OnnxTensor(String name, int element, List<Long> dims, @Nullable MemorySegment raw, Longs numbers,
        List<String> texts, @Nullable Map<String, String> external) {
}
