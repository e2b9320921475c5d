/** ONNX Runtime for Java, and the translation of networks to its format. */
@NullMarked
package io.seriatim.benchmarks.onnx;

import org.jspecify.annotations.NullMarked;
