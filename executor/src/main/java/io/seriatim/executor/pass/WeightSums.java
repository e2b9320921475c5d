package io.seriatim.executor.pass;

import io.seriatim.executor.ir.Arg;
import io.seriatim.executor.ir.Stage;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.network.ConvolutionAddWeights;
import io.seriatim.tensor.computation.network.ConvolutionGradWeights;
import io.seriatim.tensor.kernel.PreparedKernels;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Adds the gradient of a convolution's weights to the sum of those of their other uses, in place of that sum where its
 * memory is free. Operations with the attribute use_addto ask for this; it gives the same numbers, so it is done for
 * all.
 */
final class WeightSums implements Fusion.Rule {
    private static final Binary ADD = Binary.of(Binary.Function.ADD);

    private final PreparedKernels kernels;

    WeightSums(PreparedKernels kernels) {
        this.kernels = kernels;
    }

    @Override
    public boolean joinsLaterStages() {
        return true;
    }

    @Override
    public @Nullable Stage joined(Stage first, Stage second, int input) {
        if (!(first.computation() instanceof ConvolutionGradWeights gradient) || gradient.bias()
                || !ADD.equals(second.computation())) {
            return null;
        }
        Arg out = second.outputs().getFirst();
        Arg sum = second.inputs().get(1 - input);
        if (out == null || sum == null || !out.spec().isRowMajor() || !sum.spec().isRowMajor()
                || !sum.spec().equals(out.spec())) {
            return null;
        }
        List<@Nullable Arg> inputs = new ArrayList<>(first.inputs());
        inputs.add(sum);
        Stage whole = Stage.of(second.access(), new ConvolutionAddWeights(gradient), inputs, out);
        return Providers.haveTheSame(kernels, first, whole) ? whole : null;
    }
}
