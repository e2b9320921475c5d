@NullMarked
package io.seriatim.benchmarks.onnx;

import org.jspecify.annotations.NullMarked;
