package io.seriatim.graph.parallel;

import io.seriatim.device.Place;
import io.seriatim.graph.append.Appender;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Normalisation over the rows of all places, and of all ranks if there are several, in place of each place's own. The
 * operations of all replicas follow each other in the program that {@link Replication} writes. They become one
 * operation at each place that computes what the others need, one on the host that joins it, and one at each place that
 * uses it. All take the parts in the same order, that of the ranks and of their places, and so have the same bits.
 */
final class PlacesBatchNorm {
    private static final String FORWARD = "batch_norm";

    private final Block block;
    private final Replicas replicas;
    private final int ranks;
    private final List<OpDesc> written = new ArrayList<>();

    private PlacesBatchNorm(Block block, Replicas replicas, int ranks) {
        this.block = block;
        this.replicas = replicas;
        this.ranks = ranks;
    }

    /** Replaces the normalisations of a program of several places, which is changed. */
    static void replace(Block block, List<Place> places, int ranks) {
        PlacesBatchNorm norm = new PlacesBatchNorm(block, new Replicas(places), ranks);
        List<OpDesc> ops = block.ops();
        int count = places.size();
        for (int i = 0; i < ops.size();) {
            if (!SyncBatchNorm.isOfBatch(ops.get(i))) {
                norm.written.add(ops.get(i++));
                continue;
            }
            List<OpDesc> same = ops.subList(i, Math.min(i + count, ops.size()));
            norm.requireReplicas(same);
            if (same.getFirst().type().equals(FORWARD)) {
                norm.forward(same);
            } else {
                norm.backward(same);
            }
            i += count;
        }
        block.setOps(norm.written);
    }

    private void requireReplicas(List<OpDesc> same) {
        OpDesc first = same.getFirst();
        String slot = first.type().equals(FORWARD) ? "Y" : "Y@GRAD";
        boolean isForward = first.type().equals(FORWARD);
        for (int replica = 0; replica < replicas.count(); replica++) {
            OpDesc op = replica < same.size() ? same.get(replica) : null;
            List<String> names = (isForward ? first.output(slot) : first.input(slot));
            String expected = ReplicaNames.suffixed(names.getFirst(), replicas.suffix(replica));
            if (op == null || !op.type().equals(first.type())
                    || !(isForward ? op.output(slot) : op.input(slot)).equals(List.of(expected))) {
                throw new IllegalStateException("Behind '" + first.type() + "' (outputs " + first.outputNames()
                        + ") that of replica " + replica + " must follow, of '" + expected + "', but there is " + op);
            }
        }
    }

    private void forward(List<OpDesc> same) {
        OpDesc first = same.getFirst();
        VarDesc mean = block.get(first.input("Mean").getFirst());
        DType wide = mean.tensor().dtype();
        String name = first.output("Y").getFirst();
        List<String> tables = new ArrayList<>();
        for (int i = 0; i < same.size(); i++) {
            OpDesc op = same.get(i);
            String table = declare(op.output("Y").getFirst() + "@statistics", wide, 1, 3, channels(mean));
            append(like(op, "batch_norm_statistics", "epsilon", "data_layout").in("X", op.input("X")).out("Out", table),
                    op, i);
            tables.add(table);
        }
        String batchMean = declare(name + "@batch_mean", wide, channels(mean));
        String batchVariance = declare(name + "@batch_variance", wide, channels(mean));
        onHost(like(first, "batch_norm_join", "epsilon", "momentum")
                .in("X", joined(tables, name + "@statistics", wide, channels(mean), first))
                .in("Mean", first.input("Mean")).in("Variance", first.input("Variance")).out("BatchMean", batchMean)
                .out("BatchVariance", batchVariance).out("MeanOut", first.output("MeanOut"))
                .out("VarianceOut", first.output("VarianceOut")), first);
        for (int i = 0; i < same.size(); i++) {
            OpDesc op = same.get(i);
            // Running statistics of the joint ones, which are used as given, would be those themselves: not read.
            String y = op.output("Y").getFirst();
            Map<String, List<String>> outputs = new LinkedHashMap<>(op.outputs());
            outputs.put("MeanOut", List.of(declare(y + "@unread_mean", wide, channels(mean))));
            outputs.put("VarianceOut", List.of(declare(y + "@unread_variance", wide, channels(mean))));
            Map<String, List<String>> inputs = new LinkedHashMap<>(op.inputs());
            inputs.put("Mean", List.of(batchMean));
            inputs.put("Variance", List.of(batchVariance));
            written.add(op.with(inputs, outputs).with("use_global_stats", true).with("is_test", false)
                    .with("trainable_statistics", false));
            if (i > 0) {
                copy(first.output("MeanOut"), op.output("MeanOut"), op, i);
                copy(first.output("VarianceOut"), op.output("VarianceOut"), op, i);
            }
        }
    }

    private void copy(List<String> from, List<String> to, OpDesc of, int replica) {
        if (!from.equals(to)) {
            append(OpDesc.of("assign").in("X", from).out("Out", to), of, replica);
        }
    }

    private void backward(List<OpDesc> same) {
        OpDesc first = same.getFirst();
        VarDesc mean = block.get(first.input("SavedMean").getFirst());
        DType wide = mean.tensor().dtype();
        String name = first.input("Y@GRAD").getFirst();
        boolean hasInput = same.stream().anyMatch(op -> !wanted(op, "X@GRAD").isEmpty());
        List<String> tables = new ArrayList<>();
        for (int i = 0; i < same.size(); i++) {
            OpDesc op = same.get(i);
            OpDesc.Builder sums = like(op, "batch_norm_sums", "epsilon", "data_layout").in("X", op.input("X"))
                    .in("SavedMean", op.input("SavedMean")).in("SavedVariance", op.input("SavedVariance"))
                    .in("DY", op.input("Y@GRAD"));
            for (String each : List.of("Scale", "Bias")) {
                String unread = op.input("Y@GRAD").getFirst() + "@unread_" + each;
                List<String> wanted = wanted(op, each + "@GRAD");
                sums.out("D" + each, wanted.isEmpty() ? List.of(declare(unread, wide, channels(mean))) : wanted);
            }
            String table = declare(op.input("Y@GRAD").getFirst() + "@sums", wide, 1, 3, channels(mean));
            append(sums.out("Out", table), op, i);
            tables.add(table);
        }
        if (!hasInput) {
            return;
        }
        String all = joined(tables, name + "@sums", wide, channels(mean), first);
        for (int i = 0; i < same.size(); i++) {
            OpDesc op = same.get(i);
            append(like(op, "batch_norm_input_grad", "data_layout").in("X", op.input("X"))
                    .in("SavedMean", op.input("SavedMean")).in("SavedVariance", op.input("SavedVariance"))
                    .in("DY", op.input("Y@GRAD")).in("Sums", all).in("Scale", op.input("Scale"))
                    .out("DX", op.output("X@GRAD")), op, i);
        }
    }

    private static List<String> wanted(OpDesc op, String slot) {
        List<String> names = op.output(slot);
        return names.equals(List.of(GradientRule.EMPTY)) ? List.of() : names;
    }

    private static long channels(VarDesc statistic) {
        return statistic.tensor().dims().getFirst();
    }

    /** The tables of all places and ranks, in their order. */
    private String joined(List<String> tables, String name, DType type, long channels, OpDesc of) {
        String places = declare(name + "@places", type, tables.size(), 3, channels);
        onHost(OpDesc.of("concat").in("X", tables).in("AxisTensor").out("Out", places).attr("axis", 0), of);
        if (ranks == 1) {
            return places;
        }
        String all = declare(name + "@ranks", type, (long) tables.size() * ranks, 3, channels);
        onHost(OpDesc.of("c_allgather").in("X", places).out("Out", all).attr("nranks", ranks), of);
        return all;
    }

    private String declare(String name, DType type, long... dims) {
        if (block.var(name) != null) {
            throw new IllegalArgumentException("Variable '" + name
                    + "' is there already; was batch normalisation over all places asked for before?");
        }
        block.put(VarDesc.of(name, VarType.dense(type, dims)));
        return name;
    }

    private static OpDesc.Builder like(OpDesc op, String type, String... attributes) {
        OpDesc.Builder builder = OpDesc.of(type);
        for (String each : attributes) {
            Attribute value = op.attribute(each);
            if (value != null) {
                builder.attr(each, value);
            }
        }
        return builder;
    }

    private void append(OpDesc.Builder op, OpDesc of, int replica) {
        written.add(Appender.complete(op.attr(Roles.DEVICE, replicas.place(replica).toString()).build(), Roles.of(of))
                .builtWith(of));
    }

    private void onHost(OpDesc.Builder op, OpDesc of) {
        written.add(Appender.complete(op.attr(Roles.DEVICE, Place.CPU.toString()).build(), Roles.of(of))
                .builtWith(of));
    }
}
