package io.seriatim.tensor.kernel.portable;

import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Chain;
import io.seriatim.tensor.kernel.Kernel;
import io.seriatim.tensor.kernel.KernelContext;
import io.seriatim.tensor.kernel.portable.function.Quantization;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Chains of elementwise functions, tile by tile: a tile of each input is loaded, all steps are computed from array to
 * array, the outputs are stored. Arrays are reused as soon as no later step reads their values; with many of them tiles
 * are shorter, so that all stay in the first-level cache. Inputs that repeat from tile to tile, such as one number for
 * each channel of images, are loaded once. The steps of a quantization are one step.
 */
final class PortableChain extends PortableKernel {
    private static final int CACHED = 8 * KernelContext.TILE;
    private static final int VECTORS = 64;
    private static final int LEAST_TILE = 256;

    private final Tiles tiles;
    private final boolean[] repeated;
    private final Kind[] kinds;
    private final int[] slots;
    private final int[] sources;
    private final int inputs;
    private final int[] outputs;
    private final ChainStep[] steps;
    /** For each step the quantization whose last step it is; null for others. */
    private final @Nullable Quantization[] quantizations;
    /** Steps that are part of a quantization. */
    private final boolean[] skipped;

    /** The arrays that hold values. */
    private enum Kind {
        FLOATS, DOUBLES, INTS;

        static Kind of(DType dtype) {
            return switch (dtype) {
                case FLOAT64 -> DOUBLES;
                case INT32 -> INTS;
                default -> FLOATS;
            };
        }
    }

    private PortableChain(Chain chain, TensorSpec[] values, @Nullable TensorSpec[] arguments) {
        inputs = chain.inputs();
        outputs = chain.outputs().stream().mapToInt(Integer::intValue).toArray();
        Shape shape = Objects.requireNonNull(arguments[inputs]).shape();
        long[][] strides = new long[arguments.length][];
        repeated = new boolean[arguments.length];
        for (int i = 0; i < strides.length; i++) {
            TensorSpec operand = Objects.requireNonNull(arguments[i]);
            strides[i] = Tensor.broadcastStrides(operand, shape);
            repeated[i] = operand.shape().size() == 1;
        }
        kinds = Arrays.stream(values).map(value -> Kind.of(value.dtype())).toArray(Kind[]::new);
        slots = new int[values.length];
        sources = sources(chain, values);
        quantizations = new Quantization[chain.steps().size()];
        skipped = new boolean[chain.steps().size()];
        for (int i = 0; i < skipped.length; i++) {
            quantizations[i] = Quantization.of(chain, values, i);
            if (quantizations[i] != null) {
                quantizations[i].steps().forEach(step -> skipped[step] = true);
            }
        }
        Tiles shortest = Tiles.of(shape, inputs, LEAST_TILE, strides);
        for (int i = 0; i < inputs; i++) {
            repeated[i] |= shortest.repeat(i);
        }
        int arrays = place(chain);
        tiles = Tiles.of(shape, inputs, Math.clamp(CACHED / arrays & -VECTORS, LEAST_TILE, KernelContext.TILE),
                strides);
        DType[] dtypes = Arrays.stream(values).map(TensorSpec::dtype).toArray(DType[]::new);
        List<ChainStep> computed = new ArrayList<>();
        for (int i = inputs; i < values.length; i++) {
            Quantization quantization = quantizations[i - inputs];
            if (quantization != null) {
                computed.add(ChainStep.of(quantization, i, slots));
            } else if (sources[i] == i && !skipped[i - inputs]) {
                computed.add(ChainStep.of(chain.steps().get(i - inputs), i, dtypes, slots));
            }
        }
        steps = computed.toArray(ChainStep[]::new);
    }

    /** The values that a step reads where it is computed. */
    private List<Integer> operands(Chain chain, int step) {
        Quantization quantization = quantizations[step];
        if (skipped[step]) {
            return List.of();
        }
        return quantization == null
                ? chain.steps().get(step).operands()
                : List.of(quantization.x(), quantization.divisor(), quantization.zero());
    }

    /** For each value where it is computed: elsewhere, if it is a copy, which in an array of floats looks the same. */
    private static int[] sources(Chain chain, TensorSpec[] values) {
        int[] sources = new int[values.length];
        for (int i = 0; i < sources.length; i++) {
            boolean copied = i >= chain.inputs()
                    && chain.steps().get(i - chain.inputs()) instanceof Chain.Cast(var to, var x)
                    && (to == values[x].dtype()
                            || (to == DType.FLOAT32 && Kind.of(values[x].dtype()) == Kind.FLOATS));
            sources[i] = copied ? sources[chain.steps().get(i - chain.inputs()).operands().getFirst()] : i;
        }
        return sources;
    }

    static Kernel of(Chain chain, @Nullable TensorSpec[] arguments) {
        return new PortableChain(chain, chain.values(arguments), arguments);
    }

    /** Gives each value an array, of floats or of doubles, that no value which is still needed has. */
    private int place(Chain chain) {
        int[] lastUse = new int[slots.length];
        for (int i = 0; i < chain.steps().size(); i++) {
            for (int operand : operands(chain, i)) {
                if (operand != Chain.ABSENT) {
                    lastUse[sources[operand]] = i;
                }
            }
        }
        for (int output : outputs) {
            lastUse[sources[output]] = Integer.MAX_VALUE;
        }
        Map<Kind, boolean[]> taken = new EnumMap<>(Kind.class);
        for (Kind kind : Kind.values()) {
            taken.put(kind, new boolean[Chain.MOST_VALUES]);
        }
        for (int i = 0; i < inputs; i++) {
            // Values that are loaded once must not be overwritten.
            lastUse[i] = repeated[i] ? Integer.MAX_VALUE : lastUse[i];
            slots[i] = take(taken(taken, i));
        }
        int most = inputs;
        for (int i = 0; i < chain.steps().size(); i++) {
            for (int operand : operands(chain, i)) {
                int source = operand == Chain.ABSENT ? operand : sources[operand];
                if (source >= 0 && lastUse[source] == i) {
                    taken(taken, source)[slots[source]] = false;
                }
            }
            if (skipped[i]) {
                continue;
            }
            int source = sources[inputs + i];
            slots[inputs + i] = source == inputs + i ? take(taken(taken, source)) : slots[source];
            most = Math.max(most, count(taken));
        }
        return most;
    }

    private static int take(boolean[] taken) {
        int slot = 0;
        while (taken[slot]) {
            slot++;
        }
        taken[slot] = true;
        return slot;
    }

    private boolean[] taken(Map<Kind, boolean[]> taken, int value) {
        return Objects.requireNonNull(taken.get(kinds[value]));
    }

    /** The arrays that are taken; one of doubles is as large as two others. */
    private static int count(Map<Kind, boolean[]> taken) {
        int count = 0;
        for (Map.Entry<Kind, boolean[]> each : taken.entrySet()) {
            for (boolean one : each.getValue()) {
                count += one ? each.getKey() == Kind.DOUBLES ? 2 : 1 : 0;
            }
        }
        return count;
    }

    @Override
    void compute(@Nullable Tensor[] arguments, KernelContext context) {
        for (int i = 0; i < inputs && tiles.count() > 0; i++) {
            if (repeated[i]) {
                load(i, arguments, 0, context);
            }
        }
        for (long tile = 0; tile < tiles.count(); tile++) {
            for (int i = 0; i < inputs; i++) {
                if (!repeated[i]) {
                    load(i, arguments, tile, context);
                }
            }
            int count = tiles.size(tile);
            for (ChainStep step : steps) {
                step.run(context, count);
            }
            for (int i = 0; i < outputs.length; i++) {
                store(i, arguments, tile, context);
            }
        }
    }

    private void load(int input, @Nullable Tensor[] arguments, long tile, KernelContext context) {
        Tensor tensor = Objects.requireNonNull(arguments[input]);
        switch (kinds[input]) {
            case DOUBLES -> tiles.load(input, tensor, tile, context.doubles(slots[input]), context);
            case INTS -> tiles.load(input, tensor, tile, context.ints(slots[input]));
            case FLOATS -> tiles.load(input, tensor, tensor.dtype(), tile, context.floats(slots[input]), context);
        }
    }

    private void store(int output, @Nullable Tensor[] arguments, long tile, KernelContext context) {
        Tensor tensor = Objects.requireNonNull(arguments[inputs + output]);
        int value = outputs[output];
        switch (kinds[value]) {
            case DOUBLES ->
                tiles.store(inputs + output, tensor, tile, context.doubles(slots[value]), context);
            case INTS -> tiles.store(inputs + output, tensor, tile, context.ints(slots[value]));
            case FLOATS -> tiles.store(inputs + output, tensor, tensor.dtype(), tile, context.floats(slots[value]),
                    context);
        }
    }
}
