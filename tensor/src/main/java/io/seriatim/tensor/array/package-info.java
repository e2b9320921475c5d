/**
 * Arrays whose operations are pushed on an engine: {@link io.seriatim.tensor.array.NDArrays} makes them,
 * {@link io.seriatim.tensor.array.NDArray} has one method an operation. Each array has a variable of the engine, so
 * that operations on different arrays run in parallel and those on one array in order.
 */
@NullMarked
package io.seriatim.tensor.array;

import org.jspecify.annotations.NullMarked;
