package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Batch normalisation (Ioffe, Szegedy, 2015) of each channel: y = (x − mean) / √(variance + ε) · scale + bias. Inputs x
 * [n, c, up to three more], scale [c], bias [c] and, unless training, mean [c] and variance [c]; outputs y and, when
 * training, the batch's mean [c] and 1 / √(variance + ε) [c], where the variance is divided by the number of elements.
 * Operands of shape [c] are float32 if x has 16 bits.
 *
 * @param epsilon
 *            is added to the variance
 * @param training
 *            whether mean and variance are the batch's
 */
public record BatchNorm(float epsilon, boolean training) implements Computation {
    @Override
    public String operation() {
        return "batch_norm";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        int count = training ? 3 : 5;
        Operands in = Operands.of(operation(), inputs, count, count);
        TensorSpec x = in.get(0, "x");
        in.floating(x, "x");
        checkChannels(in, x, 1, count);
        TensorSpec channel = TensorSpec.of(x.dtype().arithmetic(), x.shape().dim(1));
        return training ? new TensorSpec[]{x.rowMajor(), channel, channel} : new TensorSpec[]{x.rowMajor()};
    }

    static void checkChannels(Operands in, TensorSpec x, int from, int to) {
        in.require(x.shape().rank() >= 2 && x.shape().rank() <= 5,
                "x must have two to five dimensions, of which the second is the channels, but has %d",
                x.shape().rank());
        for (int i = from; i < to; i++) {
            TensorSpec spec = in.get(i, "number " + i + ", one value a channel");
            in.require(
                    spec.shape().rank() == 1 && spec.shape().size() == x.shape().dim(1)
                            && spec.dtype() == x.dtype().arithmetic(),
                    "input %d must be %s [%d], but is %s", i,
                    x.dtype().arithmetic(), x.shape().dim(1), spec);
        }
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == 0 && Operands.alike(input, training ? 3 : 5, arguments);
    }

    /** By images or by channels, where nothing is summed over them. */
    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        if (training) {
            return List.of();
        }
        int[] images = new int[arguments.length];
        Arrays.fill(images, 1, 5, Split.WHOLE);
        int[] channels = new int[arguments.length];
        channels[0] = 1;
        channels[channels.length - 1] = 1;
        return List.of(Split.of(images), Split.of(channels));
    }
}
