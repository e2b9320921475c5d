package io.seriatim.graph.ops.recurrent;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.PaddleRandom;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.ops.random.RandomOperations;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary.Function;
import io.seriatim.tensor.computation.Dropout;
import io.seriatim.tensor.computation.MatMul;
import io.seriatim.tensor.computation.network.Recurrence;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Recurrent networks of several layers: LSTM, GRU and plain ones. The contribution of the input to all steps of a layer
 * is one product of matrices; the steps themselves are a {@link Recurrence}.
 */
public final class RecurrentOperations {
    private static final MatMul WITH_BIAS = new MatMul(false, true, true, List.of());

    private RecurrentOperations() {
    }

    public static void register(Operations registry) {
        String gradient = "rnn_grad(DropoutState, Input, Out, Out@GRAD, PreState, Reserve, SequenceLength, "
                + "State@GRAD, WeightList)"
                + " -> Input@GRAD, PreState@GRAD, WeightList@GRAD";
        Operation.define("rnn").in("Input", "PreState*", "WeightList*", "SequenceLength?")
                .out("Out", "DropoutState?", "State*", "Reserve~").effect(Effect.RANDOM).attr("dropout_prob", 0f)
                .attr("is_bidirec", false)
                .attr("input_size", 10).attr("hidden_size", 100).attr("num_layers", 1).attr("mode", "RNN_TANH")
                .attr("seed", 0).attr("gate_order", "paddle").attr("is_reverse", false)
                .attr("is_test", false).infer(RecurrentOperations::infer).lower(RecurrentOperations::forward)
                .differentiateAs(l -> new RecurrentSteps(l).lower())
                .grad(gradient, RecurrentOperations::inferGradient, l -> new RecurrentGradient(l).lower())
                .register(registry);
    }

    private static RecurrentNetwork check(Inference inference) {
        long[] x = inference.dims("Input");
        Attrs attrs = inference.attrs();
        inference.require(x.length == 3, "Input must be [steps, batch, size], but has %d dimensions", x.length);
        inference.require(attrs.getInt("hidden_size") >= 1 && attrs.getInt("num_layers") >= 1,
                "the attributes 'hidden_size' and 'num_layers' must be 1 or more, but are %d and %d",
                attrs.getInt("hidden_size"),
                attrs.getInt("num_layers"));
        inference.require(
                !attrs.getBool("is_reverse") || (!attrs.getBool("is_bidirec") && attrs.getInt("num_layers") == 1),
                "the attribute 'is_reverse' is for one layer of one direction, but 'is_bidirec' is %s and 'num_layers' "
                        + "is %d",
                attrs.getBool("is_bidirec"), attrs.getInt("num_layers"));
        double probability = attrs.getDouble("dropout_prob");
        inference.require(probability >= 0 && probability <= 1,
                "the attribute 'dropout_prob' must be from 0 to 1, but is %s", probability);
        RecurrentNetwork network;
        try {
            network = RecurrentNetwork.of(attrs, x);
        } catch (IllegalArgumentException e) {
            throw (IllegalArgumentException) inference.error(String.valueOf(e.getMessage())).initCause(e);
        }
        inference.require(inference.count("PreState") == network.states(),
                "PreState must hold %d tensors for the mode %s, but has %d",
                network.states(), attrs.getText("mode"), inference.count("PreState"));
        for (int i = 0; i < network.states(); i++) {
            shaped(inference, "PreState", i, network.rows(), x[1], network.size());
        }
        inference.require(inference.count("WeightList") == network.parameters(),
                "WeightList must hold %d tensors for each layer and direction, %d in all, but has %d",
                network.parameters() / network.rows(), network.parameters(), inference.count("WeightList"));
        for (int row = 0; row < network.rows(); row++) {
            long width = row < network.directions() ? x[2] : network.width();
            shaped(inference, "WeightList", network.weights(row, false), network.gates(), width);
            shaped(inference, "WeightList", network.weights(row, true), network.gates(), network.size());
            shaped(inference, "WeightList", network.bias(row, false), network.gates());
            shaped(inference, "WeightList", network.bias(row, true), network.gates());
            if (network.cell() == Recurrence.Cell.PEEPHOLE_LSTM) {
                shaped(inference, "WeightList", network.peepholes(row), 3 * network.size());
            }
        }
        if (inference.has("SequenceLength")) {
            DType lengths = inference.dtype("SequenceLength");
            inference.require(lengths == DType.INT32 || lengths == DType.INT64,
                    "SequenceLength must be int32 or int64, but is %s",
                    lengths);
            fits(inference, "SequenceLength", 0, inference.dims("SequenceLength"), x[1]);
        }
        return network;
    }

    private static void shaped(Inference inference, String slot, int index, long... wanted) {
        ArgType type = inference.in(slot, index);
        inference.require(type.dtype() == inference.dtype("Input"), "%s, place %d, must be %s as Input, but is %s",
                slot, index,
                inference.dtype("Input"), type.dtype());
        fits(inference, slot, index, type.dims(), wanted);
    }

    private static void fits(Inference inference, String slot, int index, long[] dims, long... wanted) {
        boolean fits = dims.length == wanted.length;
        for (int i = 0; fits && i < dims.length; i++) {
            fits = dims[i] < 0 || wanted[i] < 0 || dims[i] == wanted[i];
        }
        inference.require(fits, "%s, place %d, must be %s, but is %s", slot, index, Numbers.text(wanted),
                Numbers.text(dims));
    }

    private static boolean isTraining(Attrs attrs) {
        return !attrs.getBool("is_test");
    }

    /** Whether anything is dropped: only between layers, and only in training. */
    static boolean drops(Attrs attrs) {
        return isTraining(attrs) && attrs.getDouble("dropout_prob") > 0 && attrs.getInt("num_layers") > 1;
    }

    private static void infer(Inference inference) {
        RecurrentNetwork network = check(inference);
        DType dtype = inference.dtype("Input");
        inference.set("Out", dtype, network.steps(), network.batch(), network.width());
        inference.sameEach("PreState", "State");
        if (!inference.isForRun()) {
            inference.asDeclared("Reserve");
            inference.asDeclared("DropoutState");
            return;
        }
        inference.set("Reserve", dtype, isTraining(inference.attrs()) ? network.reserved() : 0);
        if (drops(inference.attrs())) {
            inference.set("DropoutState", DType.UINT8, network.steps(), network.batch(), network.width());
        } else {
            inference.set("DropoutState", DType.UINT8, 0);
        }
    }

    private static void inferGradient(Inference inference) {
        RecurrentNetwork network = check(inference);
        if (inference.isForRun()) {
            inference.require(isTraining(inference.attrs()) && inference.has("Reserve")
                    && Arrays.equals(inference.dims("Reserve"), new long[]{network.reserved()}),
                    "Reserve must be what the forward operation saved, %d numbers; with is_test it saves nothing",
                    network.reserved());
            inference.require(!drops(inference.attrs()) || inference.has("DropoutState"),
                    "DropoutState must be that of the forward operation");
        }
        inference.same("Input", "Input@GRAD");
        inference.sameEach("PreState", "PreState@GRAD");
        inference.sameEach("WeightList", "WeightList@GRAD");
    }

    private static void forward(Lowering l) {
        Operand input = l.in("Input");
        RecurrentNetwork network = RecurrentNetwork.of(l.attrs(), input.shape().dims());
        Operand reserve = isTraining(l.attrs()) && l.wants("Reserve") ? l.output("Reserve") : null;
        Operand kept = drops(l.attrs()) ? kept(l, mask(l, network), input.dtype()) : null;
        TensorSpec spec = network.outputSpec(input.dtype());
        for (int layer = 0; layer < network.layers(); layer++) {
            boolean last = layer == network.layers() - 1;
            Operand own = last && l.wants("Out") ? l.output("Out") : null;
            Operand output = own != null
                    ? own
                    : !last && reserve != null ? network.output(reserve, layer) : l.temporary(spec);
            for (int direction = 0; direction < network.directions(); direction++) {
                cells(l, network, layer, direction, input, output, reserve);
            }
            input = kept == null ? output : l.binary(Function.MULTIPLY, output, kept);
        }
    }

    /** Rows of a matrix, all steps and sequences one below the other. */
    static Operand matrix(Lowering l, Operand sequences) {
        return l.reshape(sequences, sequences.dim(0) * sequences.dim(1), sequences.dim(2));
    }

    private static void cells(Lowering l, RecurrentNetwork network, int layer, int direction, Operand input,
            Operand output,
            @Nullable Operand reserve) {
        int row = network.row(layer, direction);
        Operand gates = l.run(WITH_BIAS, matrix(l, input), l.in("WeightList", network.weights(row, false)),
                l.in("WeightList", network.bias(row, false)));
        List<Operand> in = new ArrayList<>(List.of(gates.reshape(network.steps(), network.batch(), network.gates()),
                network.ofState(l.in("WeightList", network.weights(row, true))),
                l.in("WeightList", network.bias(row, true))));
        List<@Nullable Operand> out = new ArrayList<>(List.of(network.direction(output, direction)));
        for (int i = 0; i < network.states(); i++) {
            in.add(l.in("PreState", i).select(0, row));
            out.add(l.wants("State", i) ? l.output("State", i).select(0, row) : null);
        }
        addMore(l, network, row, in);
        if (l.has("SequenceLength")) {
            in.add(l.in("SequenceLength"));
        }
        if (network.cell().saved() > 0) {
            out.add(reserve == null ? null : network.saved(reserve, row));
        }
        l.into(network.recurrence(direction, l.has("SequenceLength")), in, out);
    }

    /** Adds the operand that only some cells have. */
    static void addMore(Lowering l, RecurrentNetwork network, int row, List<? super Operand> to) {
        switch (network.cell()) {
            case PEEPHOLE_LSTM -> to.add(l.in("WeightList", network.peepholes(row)));
            case RESET_GRU -> to.add(network.ofReset(l.in("WeightList", network.weights(row, true))));
            default -> {
                // They have none.
            }
        }
    }

    /** The factors of a layer's outputs: 0, or 1 / (1 − probability). */
    static Operand kept(Lowering l, Operand mask, DType dtype) {
        float probability = l.attrs().getFloat("dropout_prob");
        Operand ones = l.cast(mask, dtype);
        return probability == 1 ? ones : l.binary(Function.DIVIDE, ones, l.number(dtype, 1 - probability));
    }

    static Operand mask(Lowering l, RecurrentNetwork network) {
        Operand mask = l.wants("DropoutState")
                ? l.output("DropoutState")
                : l.temporary(network.outputSpec(DType.UINT8));
        float probability = l.attrs().getFloat("dropout_prob");
        PaddleRandom shared = l.paddleRandom();
        if (shared == null) {
            Operand ones = l.fill(1, network.outputSpec(DType.FLOAT32));
            l.into(new Dropout(probability, false), List.of(ones, l.randomKey()),
                    List.of(l.temporary(ones.spec()), mask));
            return mask;
        }
        int seed = l.attrs().getInt("seed");
        l.call("dropout between layers", (_, out) -> {
            Tensor to = Objects.requireNonNull(out.getFirst());
            int count = Math.toIntExact(to.shape().size());
            // Paddle draws nothing if all is dropped.
            Elements.write(
                    probability == 1
                            ? new long[WorkingMemory.length(count)]
                            : RandomOperations.draws(shared, seed).kept(count, probability),
                    to);
        }, List.of(), List.of(mask));
        return mask;
    }
}
