package io.seriatim.tensor.computation.network;

import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.check.Operands;
import io.seriatim.tensor.kernel.Computation;
import io.seriatim.tensor.kernel.Split;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Group normalisation (Wu, He, 2018): the channels of each image are normalised in groups; as many groups as channels
 * is instance normalisation. Inputs x [n, c, ...], scale [c], bias [c] (each left out unless given); outputs y, mean
 * [n, groups] and variance [n, groups] (divided by the number of elements). Mean and variance are float32 where x is
 * smaller than that.
 *
 * @param groups
 *            how many; a divisor of the channels
 * @param epsilon
 *            is added to the variance
 * @param scale
 *            whether there is a scale
 * @param bias
 *            whether there is a bias
 */
public record GroupNorm(int groups, float epsilon, boolean scale, boolean bias) implements Computation {
    @Override
    public String operation() {
        return "group_norm";
    }

    @Override
    public TensorSpec[] infer(@Nullable TensorSpec... inputs) {
        int count = 1 + (scale ? 1 : 0) + (bias ? 1 : 0);
        Operands in = Operands.of(operation(), inputs, count, count);
        TensorSpec x = in.get(0, "x");
        in.floating(x, "x");
        checkGroups(in, x);
        for (int i = 1; i < count; i++) {
            TensorSpec parameter = in.get(i, scale && i == 1 ? "scale" : "bias");
            in.floating(parameter, "scale and bias");
            in.require(parameter.shape().size() == x.shape().dim(1),
                    "scale and bias must have %d elements, as many as there are channels, but have %s",
                    x.shape().dim(1), parameter.shape());
        }
        TensorSpec statistics = TensorSpec.of(x.dtype().arithmetic(), x.shape().dim(0), groups);
        return new TensorSpec[]{x.rowMajor(), statistics, statistics};
    }

    void checkGroups(Operands in, TensorSpec x) {
        in.require(x.shape().rank() >= 2, "x needs at least two dimensions, of which the second is the channels");
        in.require(groups >= 1 && x.shape().dim(1) % groups == 0,
                "the channels (%d) must be a multiple of the groups (%d)",
                x.shape().dim(1), groups);
    }

    @Override
    public boolean inPlace(int input, @Nullable TensorSpec... arguments) {
        return input == 0 && Operands.alike(input, 1 + (scale ? 1 : 0) + (bias ? 1 : 0), arguments);
    }

    /** By images; a single one by groups, whose channels lie next to each other. */
    @Override
    public List<Split> splits(@Nullable TensorSpec... arguments) {
        int parameters = (scale ? 1 : 0) + (bias ? 1 : 0);
        int[] images = new int[arguments.length];
        Arrays.fill(images, 1, 1 + parameters, Split.WHOLE);
        boolean byChannel = arguments[0] != null && arguments[0].shape().dim(0) == 1;
        int[] channels = new int[arguments.length];
        for (int i = 0; i < channels.length; i++) {
            boolean parameter = i >= 1 && i <= parameters;
            TensorSpec spec = arguments[i];
            channels[i] = parameter ? 0 : 1;
            byChannel &= !parameter || (spec != null && spec.shape().rank() == 1);
        }
        return byChannel ? List.of(Split.of(images), Split.of(channels)) : List.of(Split.of(images));
    }

    @Override
    public Computation part(Split split, Split.Range part, @Nullable TensorSpec... arguments) {
        return split.axes().getFirst() == 0
                ? this
                : new GroupNorm(Math.toIntExact((part.to() - part.from()) * (groups / split.length(arguments))),
                        epsilon, scale, bias);
    }
}
