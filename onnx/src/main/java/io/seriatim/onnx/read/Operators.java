package io.seriatim.onnx.read;

import io.seriatim.onnx.node.Registry;
import io.seriatim.onnx.operators.ActivationOperators;
import io.seriatim.onnx.operators.AttentionOperators;
import io.seriatim.onnx.operators.ConstantOperators;
import io.seriatim.onnx.operators.ControlOperators;
import io.seriatim.onnx.operators.ConvolutionOperators;
import io.seriatim.onnx.operators.CreationOperators;
import io.seriatim.onnx.operators.ElementwiseOperators;
import io.seriatim.onnx.operators.FusedOperators;
import io.seriatim.onnx.operators.IndexOperators;
import io.seriatim.onnx.operators.LinearAttentionOperators;
import io.seriatim.onnx.operators.LossOperators;
import io.seriatim.onnx.operators.NormalisationOperators;
import io.seriatim.onnx.operators.OrderOperators;
import io.seriatim.onnx.operators.PadOperators;
import io.seriatim.onnx.operators.PoolingOperators;
import io.seriatim.onnx.operators.ProductOperators;
import io.seriatim.onnx.operators.QuantizationOperators;
import io.seriatim.onnx.operators.RecurrentOperators;
import io.seriatim.onnx.operators.ReductionOperators;
import io.seriatim.onnx.operators.RegionOperators;
import io.seriatim.onnx.operators.ResizeOperators;
import io.seriatim.onnx.operators.SequenceOperators;
import io.seriatim.onnx.operators.ShapeOperators;
import io.seriatim.onnx.operators.SignalOperators;
import io.seriatim.onnx.operators.TermOperators;

/** The translators of all families. */
final class Operators {
    private static final Registry ALL = registered();

    private Operators() {
    }

    static Registry all() {
        return ALL;
    }

    private static Registry registered() {
        Registry all = new Registry();
        ActivationOperators.register(all);
        AttentionOperators.register(all);
        ConstantOperators.register(all);
        ControlOperators.register(all);
        ConvolutionOperators.register(all);
        CreationOperators.register(all);
        ElementwiseOperators.register(all);
        FusedOperators.register(all);
        IndexOperators.register(all);
        LinearAttentionOperators.register(all);
        LossOperators.register(all);
        NormalisationOperators.register(all);
        OrderOperators.register(all);
        PadOperators.register(all);
        PoolingOperators.register(all);
        ProductOperators.register(all);
        QuantizationOperators.register(all);
        RecurrentOperators.register(all);
        ReductionOperators.register(all);
        RegionOperators.register(all);
        ResizeOperators.register(all);
        SequenceOperators.register(all);
        ShapeOperators.register(all);
        SignalOperators.register(all);
        TermOperators.register(all);
        return all;
    }
}
