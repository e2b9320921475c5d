package io.seriatim.graph.ops.assignment;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.LodSlot;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operation;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Lod;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/** The results of an operation whose shapes depend on the values of its inputs, by slot. */
final class Labels {
    /** A result; its shape is that of {@code dims}, its rows are divided by {@code lod}. */
    @SuppressWarnings("ArrayRecordComponent") // Of this class alone, and never compared.
    private record Result(DType dtype, double[] values, long[] dims, Lod lod) {
    }

    /** Computes the results from the values of the inputs. */
    @FunctionalInterface
    interface Rule {
        Labels of(Given given);
    }

    private final Map<String, Result> results = new LinkedHashMap<>();

    /** Sets a result. */
    void set(String slot, DType dtype, double[] values, Lod lod, long... dims) {
        results.put(slot, new Result(dtype, values, dims.clone(), lod));
    }

    /**
     * Completes a schema: the values and offsets of inputs are known when a run infers the shapes of the results, which
     * are then computed.
     *
     * @param atBuild
     *            infers while a program is built, and checks the shapes of the inputs
     * @param divided
     *            the inputs with offsets
     */
    static Operation.Builder define(Operation.Builder operation, String[] inputs, String[] divided, String[] outputs,
            Inference.Rule atBuild, Rule rule) {
        operation.values(inputs).readsLod(divided).makesLod(outputs).sharesNoLod();
        for (String slot : divided) {
            operation.values(LodSlot.of(slot));
        }
        return operation.infer(inference -> {
            atBuild.infer(inference);
            if (inference.isForRun()) {
                rule.of(new Given.AtInference(inference)).results.forEach((slot, result) -> {
                    inference.set(slot, result.dtype(), result.dims());
                    inference.setLod(slot, result.lod());
                });
            }
        }).lower(l -> rule.of(new Given.AtLowering(l)).results.forEach((slot, result) -> write(l, slot, result)));
    }

    private static void write(Lowering l, String slot, Result result) {
        if (l.wants(slot)) {
            l.out(slot, l.constant(Tensor.of(result.dtype(), result.values(), result.dims())));
        }
        if (l.wantsLod(slot)) {
            l.outLod(slot, result.lod());
        }
    }

    /** The values and offsets of inputs. */
    sealed interface Given {
        String type();

        Attrs attrs();

        boolean has(String slot);

        DType dtype(String slot);

        long[] dims(String slot);

        double[] numbers(String slot);

        Lod lod(String slot);

        /** The offsets of the sequences of an input, as many as there are images, and one more. */
        default int[] offsets(String slot, int rows) {
            Lod lod = lod(slot);
            if (lod.isEmpty() || lod.rows() != rows) {
                throw error(slot + " must be divided among the images by its LoD, from 0 to its " + rows
                        + " rows, but its LoD is " + lod);
            }
            return Arrays.stream(lod.last()).mapToInt(Math::toIntExact).toArray();
        }

        /** Two inputs are divided among equally many images. */
        default void sameImages(int images, String slot, int[] offsets) {
            if (offsets.length - 1 != images) {
                throw error(slot + " must be divided among " + images + " images, but its LoD has "
                        + (offsets.length - 1) + " sequences");
            }
        }

        default IllegalArgumentException error(String rule) {
            return new IllegalArgumentException("Operation '" + type() + "': " + rule);
        }

        /** What inference knows. */
        record AtInference(Inference inference) implements Given {
            @Override
            public String type() {
                return inference.type();
            }

            @Override
            public Attrs attrs() {
                return inference.attrs();
            }

            @Override
            public boolean has(String slot) {
                return inference.has(slot);
            }

            @Override
            public DType dtype(String slot) {
                return inference.dtype(slot);
            }

            @Override
            public long[] dims(String slot) {
                return inference.dims(slot);
            }

            @Override
            public double[] numbers(String slot) {
                return Objects.requireNonNull(inference.numbers(slot));
            }

            @Override
            public Lod lod(String slot) {
                return Objects.requireNonNull(inference.lod(slot));
            }
        }

        /** What a lowering knows. */
        record AtLowering(Lowering l) implements Given {
            @Override
            public String type() {
                return l.type();
            }

            @Override
            public Attrs attrs() {
                return l.attrs();
            }

            @Override
            public boolean has(String slot) {
                return l.has(slot);
            }

            @Override
            public DType dtype(String slot) {
                return l.in(slot).dtype();
            }

            @Override
            public long[] dims(String slot) {
                return l.in(slot).shape().dims();
            }

            @Override
            public double[] numbers(String slot) {
                return Objects.requireNonNull(l.numbers(slot));
            }

            @Override
            public Lod lod(String slot) {
                return l.lodValue(slot);
            }
        }
    }
}
