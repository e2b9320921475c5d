/** Inference of models in files beside ONNX Runtime and OpenVINO: {@code seriatim bench models}. */
@NullMarked
package io.seriatim.benchmarks.models;

import org.jspecify.annotations.NullMarked;
