/**
 * The messages of ONNX files as records, read from bytes that are not trusted: each length and count is checked against
 * what is left before memory is allocated.
 */
@NullMarked
package io.seriatim.onnx.proto;

import org.jspecify.annotations.NullMarked;
