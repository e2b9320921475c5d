package io.seriatim.graph.ops.normalisation;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.ImageLayout;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Reduction;
import io.seriatim.tensor.computation.network.BatchNorm;
import io.seriatim.tensor.computation.network.BatchNormGrad;
import java.util.List;
import java.util.Objects;

/**
 * The parts of a normalisation over the batch of several places, of which each has some rows. What one place gives to
 * the others is a table of shape [1, 3, channels]; those of all are joined by {@code concat}, and by
 * {@code c_allgather} if there are several ranks.
 *
 * <ul>
 * <li>{@code batch_norm_statistics}: mean, 1 / √(variance + ε) and number of a place's elements of each channel.</li>
 * <li>{@code batch_norm_join}: mean and variance of all rows, of the tables of all places, and the running statistics;
 * on the host, so that all places have the same bits whatever their devices. {@code batch_norm} with
 * {@code use_global_stats} then normalises.</li>
 * <li>{@code batch_norm_sums}: the gradients of scale and bias of a place's rows, which are Σ dy · x̂ and Σ dy, and a
 * table of these sums and the number of elements.</li>
 * <li>{@code batch_norm_input_grad}: dx, of the tables of all places.</li>
 * </ul>
 *
 * The formulas are those of {@link SyncBatchNormOperations}, which is the same for ranks of one place each.
 */
public final class PlacesBatchNormOperations {
    /** The rows of a table. */
    private static final int ROWS = 3;

    private PlacesBatchNormOperations() {
    }

    public static void register(Operations registry) {
        Operation.define("batch_norm_statistics").in("X").out("Out").attr("epsilon", 1e-5f)
                .attr("data_layout", "NCHW").infer(inference -> table(inference, "Out"))
                .lower(PlacesBatchNormOperations::statistics).register(registry);
        Operation.define("batch_norm_join").in("X", "Mean", "Variance")
                .out("BatchMean", "BatchVariance", "MeanOut", "VarianceOut").attr("momentum", 0.9f)
                .attr("epsilon", 1e-5f).infer(PlacesBatchNormOperations::inferJoin)
                .lower(PlacesBatchNormOperations::join).register(registry);
        Operation.define("batch_norm_sums").in("X", "SavedMean", "SavedVariance", "DY")
                .out("DScale", "DBias", "Out").attr("epsilon", 1e-5f).attr("data_layout", "NCHW")
                .infer(inference -> {
                    table(inference, "Out");
                    inference.same("SavedMean", "DScale");
                    inference.same("SavedMean", "DBias");
                }).lower(PlacesBatchNormOperations::sums).register(registry);
        Operation.define("batch_norm_input_grad").in("X", "SavedMean", "SavedVariance", "DY", "Sums", "Scale?")
                .out("DX").attr("data_layout", "NCHW").infer(inference -> {
                    requireTables(inference, "Sums");
                    inference.same("X", "DX");
                }).lower(PlacesBatchNormOperations::inputGradient).register(registry);
    }

    private static void table(Inference inference, String slot) {
        long[] x = inference.dims("X");
        inference.require(x.length >= 2 && x.length <= 5, "X needs 2 to 5 dimensions, but has %d", x.length);
        inference.set(slot, inference.dtype("X").arithmetic(), 1, ROWS,
                x[BatchNormOperations.layout(inference.attrs(), x.length).channels(x.length)]);
    }

    private static void requireTables(Inference inference, String slot) {
        long[] dims = inference.dims(slot);
        inference.require(dims.length == ROWS && (dims[1] == ROWS || dims[1] < 0),
                "%s must have the tables of all places, of shape [places, 3, channels], but has %d dimensions", slot,
                dims.length);
    }

    private static void inferJoin(Inference inference) {
        requireTables(inference, "X");
        inference.same("Mean", "BatchMean");
        inference.same("Mean", "BatchVariance");
        inference.same("Mean", "MeanOut");
        inference.same("Variance", "VarianceOut");
    }

    private static double rows(Operand x) {
        return (double) x.shape().size() / x.dim(1);
    }

    private static void writeTable(Lowering l, Operand first, Operand second, double rows) {
        if (l.wants("Out")) {
            Operand table = l.output("Out").select(0, 0);
            l.into(Copy.PLAIN, List.of(first), List.of(table.select(0, 0)));
            l.into(Copy.PLAIN, List.of(second), List.of(table.select(0, 1)));
            l.into(Copy.PLAIN, List.of(l.fill(rows, first.spec())), List.of(table.select(0, 2)));
        }
    }

    private static void statistics(Lowering l) {
        Operand x = BatchNormOperations.layout(l.attrs(), l.in("X").rank()).channelsFirst(l.in("X"));
        TensorSpec channel = TensorSpec.of(x.dtype().arithmetic(), x.dim(1));
        Operand mean = l.temporary(channel);
        Operand inverse = l.temporary(channel);
        l.into(new BatchNorm(l.attrs().getFloat("epsilon"), true),
                List.of(x, l.fill(1, channel), l.fill(0, channel)),
                List.of(l.temporary(x.spec().rowMajor()), mean, inverse));
        writeTable(l, mean, inverse, rows(x));
    }

    private static void join(Lowering l) {
        Operand mean = l.mutable("Mean", "MeanOut");
        Operand variance = l.mutable("Variance", "VarianceOut");
        Operand batchMean = l.temporary(mean.spec());
        Operand batchVariance = l.temporary(mean.spec());
        float epsilon = l.attrs().getFloat("epsilon");
        int places = Math.toIntExact(l.in("X").dim(0));
        int channels = Math.toIntExact(l.in("X").dim(2));
        l.call("statistics of all places", (in, out) -> SyncBatchNormOperations.combine(
                tables(Objects.requireNonNull(in.getFirst()).toDoubleArray(), places, channels, epsilon), channels,
                Objects.requireNonNull(out.get(0)), Objects.requireNonNull(out.get(1))), List.of(l.in("X")),
                List.of(batchMean, batchVariance));
        SyncBatchNormOperations.updateRunning(l, mean, batchMean, variance, batchVariance);
        l.out("BatchMean", batchMean);
        l.out("BatchVariance", batchVariance);
    }

    /** Of each place means, variances and the number of elements, as ranks gather them. */
    private static double[][] tables(double[] all, int places, int channels, double epsilon) {
        double[][] tables = new double[places][2 * channels + 1];
        for (int place = 0; place < places; place++) {
            int from = place * ROWS * channels;
            for (int i = 0; i < channels; i++) {
                tables[place][i] = all[from + i];
                tables[place][channels + i] = SyncBatchNormOperations.variance(all[from + channels + i], epsilon);
            }
            tables[place][2 * channels] = all[from + 2 * channels];
        }
        return tables;
    }

    private static void sums(Lowering l) {
        ImageLayout layout = BatchNormOperations.layout(l.attrs(), l.in("X").rank());
        Operand x = layout.channelsFirst(l.in("X"));
        Operand mean = l.in("SavedMean");
        Operand dscale = l.temporary(mean.spec());
        Operand dbias = l.temporary(mean.spec());
        l.into(new BatchNormGrad(new BatchNorm(l.attrs().getFloat("epsilon"), true)),
                List.of(x, layout.channelsFirst(l.in("DY")), l.fill(1, mean.spec()), mean, l.in("SavedVariance")),
                List.of(l.temporary(x.spec().rowMajor()), dscale, dbias));
        writeTable(l, dscale, dbias, rows(x));
        l.out("DScale", dscale);
        l.out("DBias", dbias);
    }

    /** dx = scale / √(variance + ε) · (dy − Σ dy / M − x̂ Σ dy x̂ / M). */
    private static void inputGradient(Lowering l) {
        ImageLayout layout = BatchNormOperations.layout(l.attrs(), l.in("X").rank());
        Operand x = layout.channelsFirst(l.in("X"));
        Operand dy = layout.channelsFirst(l.in("DY"));
        Operand mean = l.in("SavedMean");
        Operand inverse = l.in("SavedVariance");
        Operand total = l.run(new Reduction(Reduction.Function.SUM, List.of(0), false), l.in("Sums"));
        Operand ofDy = l.binary(Binary.Function.MULTIPLY, BatchNormOperations.channel(l, "Scale", 1, x), inverse);
        Operand share = l.binary(Binary.Function.DIVIDE, ofDy, total.select(0, 2));
        Operand ofX = l.binary(Binary.Function.MULTIPLY, inverse,
                l.binary(Binary.Function.MULTIPLY, share, total.select(0, 0)));
        Operand constant = l.binary(Binary.Function.MULTIPLY, share, total.select(0, 1));
        Operand centred = l.binary(Binary.Function.SUBTRACT, l.cast(x, mean.dtype()), perChannel(mean, x));
        Operand first = l.binary(Binary.Function.MULTIPLY, l.cast(dy, mean.dtype()), perChannel(ofDy, x));
        Operand second = l.binary(Binary.Function.MULTIPLY, centred, perChannel(ofX, x));
        l.out("DX", layout.from(l.binary(Binary.Function.SUBTRACT,
                l.binary(Binary.Function.SUBTRACT, first, second), perChannel(constant, x))));
    }

    private static Operand perChannel(Operand channels, Operand x) {
        return BatchNormOperations.perChannel(channels, x.rank());
    }
}
