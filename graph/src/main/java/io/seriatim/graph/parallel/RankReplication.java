package io.seriatim.graph.parallel;

import io.seriatim.device.Place;
import io.seriatim.graph.append.Appender;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.DataTypes;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import io.seriatim.tensor.DType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Makes the program of one rank of a program that a process runs alone. What forward and backward write and the
 * optimizer reads is averaged over all ranks, in <em>buckets</em>: variables of one type that are complete one after
 * the other are joined, summed by one {@code c_allreduce_sum} and taken apart again, since a small message takes as
 * long as a larger one. A bucket is summed behind the operation that completes it, while backward goes on.
 */
final class RankReplication {
    /** A bucket that has so many bytes is summed. */
    private static final long BUCKET_BYTES = 1 << 18;
    /** Above the 0 of computations: they should overlap with the sum, not delay it. */
    private static final int PRIORITY = -1;

    private final DataParallel alone;
    private final int rank;
    private final int ranks;
    private final Exchange exchange;
    private final Program result;
    private final Block block;
    private final ReplicaBlocks inner;
    private final List<OpDesc> written = new ArrayList<>();
    /** Of each variable that has been summed, the mean. */
    private final Map<String, String> means = new HashMap<>();
    private final Map<Kind, Bucket> buckets = new LinkedHashMap<>();
    private OptimizerShards shards = OptimizerShards.NONE;
    private int bucketsDone;

    /** What the members of a bucket have in common: their type, and what they travel as. */
    private record Kind(DType type, DType wire) {
    }

    /** Variables of one kind that are summed together. */
    private static final class Bucket {
        private final List<VarDesc> members = new ArrayList<>();
        private long bytes;
    }

    RankReplication(DataParallel alone, int rank, int ranks, Exchange exchange) {
        if (ranks < 1 || rank < 0 || rank >= ranks) {
            throw new IllegalArgumentException("rank " + rank + " of " + ranks + ": ranks are numbered from 0");
        }
        if (alone.ranks() != 1) {
            throw new IllegalArgumentException("The program is that of rank " + alone.rank() + " of " + alone.ranks()
                    + " already: take the program of one process");
        }
        if (ranks > 1 && alone.feeds().getFirst().stream()
                .noneMatch(feed -> DataParallel.isSplit(alone.main().global().get(feed)))) {
            throw new IllegalArgumentException(
                    "Each rank gets its rows of the feeds whose first dimension is open (-1), "
                            + "but of " + alone.feeds().getFirst() + " none is; declare one with -1 rows");
        }
        this.alone = alone;
        this.rank = rank;
        this.ranks = ranks;
        this.exchange = exchange;
        this.result = alone.main().copy();
        this.block = result.global();
        this.inner = new ReplicaBlocks(alone.main(), result, false);
        if (exchange.isSyncBatchNorm()) {
            requireNoSyncInBlocks();
        }
        if (isSyncOfPlaces()) {
            PlacesBatchNorm.replace(block, alone.places(), ranks);
        }
    }

    DataParallel result() {
        if (ranks == 1) {
            return isSyncOfPlaces()
                    ? new DataParallel(result, alone.startup(), alone.broadcast(), alone.places(), alone.feeds(),
                            alone.loss(), alone.fetches(), 0, 1, alone.owners(), alone.gather())
                    : alone;
        }
        List<OpDesc> ops = UpdateOrder.of(block.ops(), result);
        if (exchange.isSharded()) {
            shards = OptimizerShards.of(ops, block, ranks, seen(), firsts());
        }
        Map<Integer, List<String>> complete = complete(ops);
        for (int i = 0; i < ops.size(); i++) {
            OpDesc op = ops.get(i);
            if (Replication.isUpdate(op)) {
                update(op);
            } else {
                compute(op);
            }
            complete.getOrDefault(i, List.of()).forEach(this::add);
        }
        List.copyOf(buckets.keySet()).forEach(this::sum);
        Map<String, String> wanted = new HashMap<>();
        wanted.put(alone.loss(), together(alone.loss(), ops));
        alone.fetches().forEach(fetch -> wanted.computeIfAbsent(fetch, name -> together(name, ops)));
        block.setOps(written);
        if (rank > 0) {
            result.randomSeed(result.randomSeed() + rank * 0x9E3779B97F4A7C15L);
        }
        return new DataParallel(result, copying(alone.startup(), true), copying(alone.broadcast(), false),
                alone.places(), alone.feeds(), wanted.getOrDefault(alone.loss(), alone.loss()),
                alone.fetches().stream().map(fetch -> wanted.getOrDefault(fetch, fetch)).toList(), rank, ranks,
                shards.state(), shards.gathering(block, rank));
    }

    /**
     * What is summed in buckets, by the number of the operation that writes it last: what the optimizer reads, and
     * those fetches that are means.
     */
    private Map<Integer, List<String>> complete(List<OpDesc> ops) {
        Map<Integer, List<String>> behind = new HashMap<>();
        Reductions.of(ops, block, new Replicas(List.of(Place.CPU))).behind()
                .forEach((at, names) -> behind.put(at, new ArrayList<>(names)));
        Set<String> reduced = new HashSet<>();
        behind.values().forEach(reduced::addAll);
        Set<String> fetched = new LinkedHashSet<>(alone.fetches());
        fetched.add(alone.loss());
        for (String name : fetched) {
            int writer = lastWriter(name, ops);
            VarDesc desc = block.get(name);
            if (writer >= 0 && !Replication.isUpdate(ops.get(writer)) && !reduced.contains(name) && isMean(desc)) {
                behind.computeIfAbsent(writer, _ -> new ArrayList<>()).add(name);
            }
        }
        return behind;
    }

    private int lastWriter(String name, List<OpDesc> ops) {
        for (int i = ops.size() - 1; i >= 0; i--) {
            if (BlockAccesses.written(ops.get(i), result).contains(name)) {
                return i;
            }
        }
        return -1;
    }

    private static boolean isMean(VarDesc desc) {
        return !desc.isPersistable() && desc.type() instanceof VarType.Dense && desc.tensor().dtype().isFloating()
                && desc.tensor().dims().stream().allMatch(dim -> dim >= 0);
    }

    private boolean isSyncOfPlaces() {
        return exchange.isSyncBatchNorm() && alone.places().size() > 1;
    }

    private void compute(OpDesc given) {
        OpDesc op = exchange.isSyncBatchNorm() && !isSyncOfPlaces() ? SyncBatchNorm.of(given) : given;
        written.add(inner.of(op, UnaryOperator.identity(), this::seeded));
    }

    private OpDesc seeded(OpDesc op) {
        return Replication.isRandom(op) && op.attribute("seed") instanceof Attribute.Int(int seed)
                ? op.with("seed", Replicas.seed(seed, rank << Short.SIZE))
                : op;
    }

    /** A branch may be taken by some ranks only, which would wait for the others. */
    private void requireNoSyncInBlocks() {
        for (OpDesc op : block.ops()) {
            for (Block within : BlockAccesses.blocks(op, result)) {
                for (OpDesc each : within.ops()) {
                    if (SyncBatchNorm.isOfBatch(each)) {
                        throw new IllegalArgumentException("Batch normalisation over the rows of all places and ranks "
                                + "is a collective, which all must reach, but '" + each.type() + "' (outputs "
                                + each.outputNames() + ") is in block " + within.index() + ", which '" + op.type()
                                + "' runs as the rows of a place say: move it out of the loop or branch, or take the "
                                + "statistics of each place's rows");
                    }
                }
            }
        }
    }

    /** Until the optimizer overwrites a gradient, it reads the mean. */
    private void update(OpDesc op) {
        List<String> read = BlockAccesses.read(op, result);
        for (Map.Entry<Kind, Bucket> each : List.copyOf(buckets.entrySet())) {
            if (each.getValue().members.stream().anyMatch(member -> read.contains(member.name()))) {
                sum(each.getKey());
            }
        }
        int owner = shards.owner(op);
        if (owner < 0 || owner == rank) {
            written.add(renamed(op));
        }
        if (owner >= 0) {
            shards.replace(op, owner, owner == rank, written);
        }
        op.outputNames().forEach(means::remove);
    }

    private OpDesc renamed(OpDesc op) {
        if (!op.runsBlocks()) {
            return op.renamed(name -> means.getOrDefault(name, name), name -> name);
        }
        // A branch that is not taken leaves the mean in what it would overwrite.
        for (String name : BlockAccesses.written(op, result)) {
            String mean = means.remove(name);
            if (mean != null) {
                append(OpDesc.of("assign").in("X", mean).out("Out", name), Roles.OPTIMIZE);
            }
        }
        return inner.of(op, name -> means.getOrDefault(name, name), UnaryOperator.identity());
    }

    /** Of each variable that outlives runs at another place than the first, that of the first place. */
    private Map<String, String> firsts() {
        Map<String, String> firsts = new HashMap<>();
        alone.broadcast().global().ops()
                .forEach(copy -> copy.outputNames().forEach(name -> firsts.put(name, copy.inputNames().getFirst())));
        return firsts;
    }

    /** What the user sees of a step. */
    private Set<String> seen() {
        Set<String> seen = new HashSet<>(alone.fetches());
        seen.add(alone.loss());
        return seen;
    }

    private void add(String name) {
        VarDesc desc = block.get(name);
        if (!(desc.type() instanceof VarType.Dense)) {
            throw new IllegalArgumentException("Ranks average dense tensors, but '" + name + "' is " + desc.type()
                    + ": build the embedding without is_sparse");
        }
        DType dtype = desc.tensor().dtype();
        if (desc.tensor().dims().stream().anyMatch(dim -> dim < 0)) {
            // Its size is not known, so that it cannot be cut out of a bucket.
            means.put(name, mean(desc, desc, wire(desc)));
            return;
        }
        Kind kind = new Kind(dtype, wire(desc));
        Bucket bucket = buckets.computeIfAbsent(kind, _ -> new Bucket());
        bucket.members.add(desc);
        bucket.bytes += size(desc) * dtype.bytes();
        if (bucket.bytes >= BUCKET_BYTES) {
            sum(kind);
        }
    }

    /** What the user sees is not rounded. */
    private DType wire(VarDesc desc) {
        DType type = desc.tensor().dtype();
        boolean isSeen = desc.name().equals(alone.loss()) || alone.fetches().contains(desc.name());
        return exchange.isBfloat16() && type == DType.FLOAT32 && !isSeen ? DType.BFLOAT16 : type;
    }

    private static long size(VarDesc desc) {
        return desc.tensor().dims().stream().reduce(1L, (a, b) -> a * b);
    }

    private void sum(Kind kind) {
        Bucket bucket = buckets.remove(kind);
        if (bucket == null) {
            return;
        }
        DType dtype = kind.type();
        if (bucket.members.size() == 1) {
            VarDesc only = bucket.members.getFirst();
            means.put(only.name(), mean(only, only, kind.wire()));
            return;
        }
        String name = "bucket_" + bucketsDone++ + "@ranks";
        List<String> parts = new ArrayList<>();
        int[] sections = new int[bucket.members.size()];
        for (int i = 0; i < sections.length; i++) {
            VarDesc member = bucket.members.get(i);
            sections[i] = Math.toIntExact(size(member));
            parts.add(reshaped(member.name(), flat(member.name() + "@flat", dtype, sections[i]), sections[i]));
        }
        VarDesc joined = flat(name, dtype, Math.toIntExact(bucket.bytes / dtype.bytes()));
        append(OpDesc.of("concat").in("X", parts).in("AxisTensor").out("Out", name).attr("axis", 0));
        List<String> cut = new ArrayList<>();
        for (int i = 0; i < sections.length; i++) {
            String member = bucket.members.get(i).name();
            cut.add(flat(member + "@part", dtype, sections[i]).name());
        }
        append(OpDesc.of("split").in("X", mean(joined, joined, kind.wire())).in("AxisTensor").in("SectionsTensorList")
                .out("Out", cut).attr("axis", 0).attr("num", 0).attr("sections", sections));
        for (int i = 0; i < sections.length; i++) {
            VarDesc member = bucket.members.get(i);
            VarDesc mean = member.named(free(member.name() + "@rank_mean"));
            block.put(mean);
            int[] dims = member.tensor().dims().stream().mapToInt(Math::toIntExact).toArray();
            means.put(member.name(), reshaped(cut.get(i), mean, dims));
        }
    }

    private String reshaped(String from, VarDesc to, int... dims) {
        String shape = free(to.name() + "@shape");
        block.put(VarDesc.of(shape, VarType.dense(to.tensor().dtype(), 0)));
        append(OpDesc.of("reshape2").in("X", from).in("Shape").in("ShapeTensor").out("Out", to.name())
                .out("XShape", shape).attr("shape", dims));
        return to.name();
    }

    private VarDesc flat(String name, DType dtype, int size) {
        VarDesc desc = VarDesc.of(free(name), VarType.dense(dtype, size));
        block.put(desc);
        return desc;
    }

    private String free(String name) {
        if (block.var(name) != null) {
            throw new IllegalArgumentException("Variable '" + name
                    + "' is there already; was the program made for several ranks before?");
        }
        return name;
    }

    /** Adds the mean over all ranks, and returns its name. */
    private String mean(VarDesc like, VarDesc of, DType wire) {
        String total = total(like, of, wire);
        String mean = free(of.name() + "@rank_mean");
        block.put(like.named(mean));
        append(OpDesc.of("scale").in("X", total).in("ScaleTensor").out("Out", mean).attr("scale", 1f / ranks));
        return mean;
    }

    private String total(VarDesc like, VarDesc of, DType wire) {
        String total = free(of.name() + "@rank_sum");
        block.put(like.named(total));
        OpDesc.Builder sum = OpDesc.of("c_allreduce_sum").in("X", of.name()).out("Out", total).attr(Roles.PRIORITY,
                PRIORITY);
        append(wire == of.tensor().dtype() ? sum : sum.attr("wire_dtype", DataTypes.number(wire)));
        return total;
    }

    private void append(OpDesc.Builder op) {
        append(op, Roles.BACKWARD);
    }

    private void append(OpDesc.Builder op, int role) {
        written.add(Appender.complete(op.attr(Roles.DEVICE, Place.CPU.toString()).build(), role));
    }

    /** The replacement of a variable of one rank. */
    private String together(String name, List<OpDesc> ops) {
        String mean = means.get(name);
        if (mean != null) {
            return mean;
        }
        VarDesc desc = block.get(name);
        int writer = lastWriter(name, ops);
        boolean isShared = writer < 0
                ? !(alone.feeds().getFirst().contains(name) && DataParallel.isSplit(desc))
                : Replication.isUpdate(ops.get(writer));
        if (desc.isPersistable() || isShared) {
            return name;
        }
        if (!(desc.type() instanceof VarType.Dense)) {
            throw new IllegalArgumentException(
                    "What is fetched of several ranks is a tensor, but '" + name + "' is " + desc.type());
        }
        if (!desc.tensor().dims().isEmpty() && desc.tensor().dims().getFirst() < 0) {
            String all = free(name + "@ranks");
            block.put(desc.named(all));
            append(OpDesc.of("c_allgather").in("X", name).out("Out", all).attr("nranks", ranks));
            return all;
        }
        return switch (desc.tensor().dtype()) {
            case FLOAT32, FLOAT64, FLOAT16, BFLOAT16 -> mean(desc, desc, desc.tensor().dtype());
            case BOOL, COMPLEX64, COMPLEX128 -> throw new IllegalArgumentException(
                    "What is fetched of several ranks is their mean or sum, but '" + name + "' is "
                            + desc.tensor().dtype() + "; cast it");
            default -> total(desc, desc, desc.tensor().dtype());
        };
    }

    /** A program that also copies what outlives runs from rank 0 to the others, before it copies it between places. */
    private Program copying(Program program, boolean isStartup) {
        Program copy = program.copy();
        Block all = copy.global();
        Set<String> copies = new HashSet<>();
        alone.broadcast().global().ops().forEach(op -> copies.addAll(op.outputNames()));
        Set<String> set = new LinkedHashSet<>();
        if (isStartup) {
            all.ops().forEach(op -> set.addAll(op.outputNames()));
        } else {
            // Of all ranks, which have the same.
            alone.main().global().ops().forEach(op -> {
                set.addAll(op.inputNames());
                set.addAll(op.outputNames());
            });
        }
        List<OpDesc> broadcasts = new ArrayList<>();
        for (String name : set) {
            VarDesc desc = (isStartup ? all : block).find(name);
            if (desc != null && desc.isPersistable() && desc.type() instanceof VarType.Dense
                    && !copies.contains(name)) {
                if (all.var(name) == null) {
                    all.put(desc);
                }
                broadcasts.add(Appender.complete(OpDesc.of("c_broadcast").in("X", name).out("Out", name)
                        .attr("root", 0).attr(Roles.DEVICE, Place.CPU.toString()).build(), Roles.FORWARD));
            }
        }
        List<OpDesc> ops = new ArrayList<>(all.ops());
        int at = 0;
        for (int i = 0; i < ops.size(); i++) {
            boolean isCopy = copies.containsAll(ops.get(i).outputNames());
            at = isCopy ? at : i + 1;
        }
        ops.addAll(at, broadcasts);
        all.setOps(ops);
        return copy;
    }
}
