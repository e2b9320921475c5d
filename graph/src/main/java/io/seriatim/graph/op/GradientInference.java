package io.seriatim.graph.op;

/** Infers that a gradient has the shape and type of its variable. */
final class GradientInference {
    private GradientInference() {
    }

    static void infer(GradientSignature signature, Inference inference) {
        for (GradientSignature.Binding output : signature.outputs()) {
            String like = like(signature, inference, output);
            for (int i = 0; i < inference.outputs(output.slot()); i++) {
                if (inference.count(like) > i) {
                    inference.set(output.slot(), i, inference.in(like, i));
                }
            }
        }
    }

    /**
     * The forward variable itself if the gradient operation reads it, else XShape, else the first incoming gradient.
     */
    private static String like(GradientSignature signature, Inference inference, GradientSignature.Binding output) {
        for (GradientSignature.Binding input : signature.inputs()) {
            if (input.written().equals(output.forward())) {
                return input.slot();
            }
        }
        for (GradientSignature.Binding input : signature.inputs()) {
            if (input.gradient() && inference.has(input.slot())) {
                return input.slot();
            }
        }
        return signature.inputs().getFirst().slot();
    }
}
