package io.seriatim.graph.parallel;

import io.seriatim.device.Place;
import io.seriatim.graph.append.Appender;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.normalisation.SyncBatchNormOperations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes a program for several places. <em>Compute</em> operations, forward and backward, are written once for each
 * replica, <em>update</em> operations, those with the role of an optimizer or of a schedule, once for each place. What
 * compute operations write and update operations read is reduced in between, behind the operation that writes it last.
 */
final class Replication {
    private static final int UPDATE = Roles.OPTIMIZE | Roles.RATE;

    private final Program main;
    private final Program startup;
    private final List<String> feeds;
    private final String loss;
    private final List<String> fetches;
    private final Replicas replicas;
    private final Block from;
    private final Program result;
    private final Block to;
    private final ReplicaNames names;
    /** For each replica. */
    private final List<ReplicaBlocks> blocks = new ArrayList<>();
    private final List<OpDesc> written = new ArrayList<>();
    /** Of each variable that has been reduced, the mean. */
    private final Map<String, String> means = new HashMap<>();

    Replication(Program main, Program startup, List<String> feeds, String loss, List<String> fetches,
            List<Place> places) {
        this.main = main;
        this.startup = startup;
        this.feeds = List.copyOf(feeds);
        this.loss = loss;
        this.fetches = List.copyOf(fetches);
        this.replicas = new Replicas(places);
        this.from = main.global();
        this.result = main.copy();
        this.to = result.global();
        List<OpDesc> ops = from.ops().stream().filter(op -> !Operations.system().isBoundary(op.type())).toList();
        ops.forEach(this::requireReplicable);
        this.names = new ReplicaNames(from, ops, splitFeeds(), replicas);
        for (int replica = 0; replica < replicas.count(); replica++) {
            blocks.add(new ReplicaBlocks(main, result, replica > 0));
        }
        to.setOps(replicas.count() == 1 ? ops : UpdateOrder.of(ops, main));
    }

    /** Whether an operation belongs to the optimizer or the schedule. */
    static boolean isUpdate(OpDesc op) {
        return (Roles.of(op) & UPDATE) != 0;
    }

    private void requireReplicable(OpDesc op) {
        String reason = obstacle(op, isUpdate(op), replicas.count() == 1);
        if (reason != null) {
            throw new IllegalArgumentException(
                    "A program of several places has each operation at each, but '" + op.type() + "' (outputs "
                            + op.outputNames() + ") " + reason);
        }
        for (Block block : BlockAccesses.blocks(op, main)) {
            for (OpDesc inner : block.ops()) {
                String inside = isUpdate(inner) && !isUpdate(op)
                        ? "belongs to the optimizer, but gradients are averaged between forward and backward and the "
                                + "optimizer, outside of blocks; move it behind the loop or branch"
                        : obstacle(inner, isUpdate(op), false);
                if (inside != null) {
                    throw new IllegalArgumentException(
                            "A program of several places has each operation at each, but '" + inner.type()
                                    + "' (outputs " + inner.outputNames() + ") in block " + block.index()
                                    + ", which '" + op.type() + "' runs, " + inside);
                }
            }
        }
    }

    /** Why an operation cannot run at each place; null if it can. */
    private static @Nullable String obstacle(OpDesc op, boolean isUpdate, boolean isAlone) {
        Operation schema = Operations.system().find(op.type());
        Set<Effect> effects = schema == null ? Set.of() : schema.effects();
        if (effects.contains(Effect.COMMUNICATION) && !(SyncBatchNormOperations.is(op.type()) && isAlone)) {
            return "communicates already; take the program of one place, and no collective in loops and branches, "
                    + "which each place runs as its own rows say";
        } else if (effects.contains(Effect.READER)) {
            return "takes batches from a reader; feed them, so that each place gets its part";
        } else if (isUpdate && effects.contains(Effect.RANDOM)) {
            return "draws random numbers in the optimizer, so that the places would part";
        } else if (!device(op).isEmpty() && !device(op).equals("cpu")) {
            return "has a place already, '" + device(op) + "'; take the program of one place";
        }
        return null;
    }

    /** The place that the program asks for; Paddle's name for all places means none. */
    private static String device(OpDesc op) {
        return op.attribute(Roles.DEVICE) instanceof Attribute.Text(String text) && !text.isBlank()
                && !text.endsWith(":all") ? text : "";
    }

    private Set<String> splitFeeds() {
        Set<String> split = new HashSet<>();
        for (String feed : feeds) {
            if (DataParallel.isSplit(from.get(feed))) {
                split.add(feed);
            }
        }
        if (split.isEmpty() && replicas.count() > 1) {
            throw new IllegalArgumentException(
                    "Each place gets its rows of the feeds whose first dimension is open (-1), but of " + feeds
                            + " none is; declare one with -1 rows");
        }
        return split;
    }

    DataParallel result() {
        if (from.ops().stream().noneMatch(Replication::isUpdate)) {
            throw new IllegalArgumentException(
                    "A program is trained on several places, but this one has no optimizer: no operation has its "
                            + "role (op_role 2)");
        }
        declare();
        Reductions reductions = Reductions.of(to.ops(), from, replicas);
        List<OpDesc> ops = to.ops();
        for (int i = 0; i < ops.size(); i++) {
            OpDesc op = ops.get(i);
            if (isUpdate(op)) {
                settle(op);
                replicas.leaders().forEach(leader -> update(op, leader));
            } else {
                for (int replica = 0; replica < replicas.count(); replica++) {
                    compute(op, replica);
                }
            }
            for (String name : reductions.behind(i)) {
                reduce(name, reductions.owner(name));
            }
        }
        Map<String, String> wanted = new LinkedHashMap<>();
        wanted.put(loss, together(loss));
        fetches.forEach(fetch -> wanted.computeIfAbsent(fetch, this::together));
        to.setOps(written);
        List<List<String>> fed = new ArrayList<>();
        for (int replica = 0; replica < replicas.count(); replica++) {
            int number = replica;
            fed.add(feeds.stream().map(feed -> names.of(feed, number)).toList());
        }
        return new DataParallel(result, copying(startup, written(startup)), copying(null, Set.of()), replicas.places(),
                fed,
                Objects.requireNonNull(wanted.get(loss)),
                fetches.stream().map(fetch -> Objects.requireNonNull(wanted.get(fetch))).toList(), 0, 1, Map.of(),
                new Program());
    }

    private void declare() {
        for (VarDesc desc : List.copyOf(from.vars())) {
            for (int replica = 1; replica < replicas.count(); replica++) {
                String name = names.of(desc.name(), replica);
                if (!name.equals(desc.name())) {
                    if (from.var(name) != null) {
                        throw new IllegalArgumentException(
                                "Variable '" + name
                                        + "' is there already; was the program made for several places before?");
                    }
                    to.put(desc.named(name));
                }
            }
        }
    }

    private void compute(OpDesc op, int replica) {
        written.add(blocks.get(replica).of(op, name -> names.of(name, replica),
                own -> placed(seeded(own, replica), replica)));
    }

    private static OpDesc seeded(OpDesc op, int replica) {
        return op.attribute("seed") instanceof Attribute.Int(int seed) && isRandom(op)
                ? op.with("seed", Replicas.seed(seed, replica))
                : op;
    }

    /** Whether an operation draws random numbers. */
    static boolean isRandom(OpDesc op) {
        Operation schema = Operations.system().find(op.type());
        return schema != null && schema.effects().contains(Effect.RANDOM);
    }

    private OpDesc placed(OpDesc op, int replica) {
        return device(op).isEmpty() ? op.with(Roles.DEVICE, replicas.place(replica).toString()) : op;
    }

    /** What a branch or loop of the optimizer may overwrite, each place has on its own before: it may be left out. */
    private void settle(OpDesc op) {
        if (!op.runsBlocks()) {
            return;
        }
        for (String name : BlockAccesses.written(op, main)) {
            String mean = means.remove(name);
            if (mean != null) {
                for (int leader : replicas.leaders()) {
                    written.add(placed(Appender.complete(
                            OpDesc.of("assign").in("X", mean).out("Out", names.of(name, leader)).build(),
                            Roles.OPTIMIZE), leader));
                }
            }
        }
    }

    /** Until the optimizer overwrites a gradient, all places read the mean. */
    private void update(OpDesc op, int leader) {
        written.add(op.runsBlocks()
                ? blocks.get(leader).of(op, name -> present(name, leader), own -> placed(own, leader))
                : placed(op.renamed(name -> present(name, leader), name -> names.of(name, leader)), leader));
        if (leader == replicas.leaders().getLast()) {
            op.outputNames().forEach(means::remove);
        }
    }

    private String present(String name, int leader) {
        return means.getOrDefault(name, names.of(name, leader));
    }

    private void reduce(String name, int owner) {
        if (replicas.count() == 1) {
            return;
        }
        List<String> parts = new ArrayList<>();
        for (int leader : replicas.leaders()) {
            List<String> own = replicas.followers(leader).stream().map(replica -> names.of(name, replica)).toList();
            boolean isAlone = own.size() == 1 || own.size() == replicas.count();
            if (isAlone) {
                parts.addAll(own);
            } else {
                parts.add(sum(name, own, "@sum" + replicas.suffix(leader), leader));
            }
        }
        means.put(name, mean(name, sum(name, parts, "@total", owner), owner));
    }

    private String sum(String of, List<String> parts, String suffix, int replica) {
        return reduction(of, OpDesc.of("sum").in("X", parts), suffix, replicas.place(replica));
    }

    private String mean(String of, String total, int replica) {
        return reduction(of, OpDesc.of("scale").in("X", total).in("ScaleTensor").attr("scale", 1f / replicas.count()),
                "@mean",
                replicas.place(replica));
    }

    /** On a stream of its own, since that of the kernels is busy with the rest of backward. */
    private String reduction(String of, OpDesc.Builder op, String suffix, Place place) {
        String out = of + suffix;
        to.put(from.get(of).named(out));
        OpDesc complete = Appender.complete(op.out("Out", out).attr(Roles.DEVICE, place.toString()).build(),
                Roles.BACKWARD);
        written.add(place.isHost() ? complete : complete.with("execution_stream", "reduce"));
        return out;
    }

    /** The replacement of a variable of one place. */
    private String together(String name) {
        VarDesc desc = from.get(name);
        String mean = means.get(name);
        if (mean != null) {
            return mean;
        }
        if (replicas.count() == 1 || desc.isPersistable() || !names.isOfReplica(name) || names.isUpdated(name)) {
            return names.of(name, 0);
        }
        VarType.TensorType type = desc.type() instanceof VarType.Dense dense ? dense.tensorType() : null;
        if (type == null) {
            throw new IllegalArgumentException(
                    "What is fetched of several places is a tensor, but '" + name + "' is " + desc.type());
        }
        List<String> parts = new ArrayList<>();
        for (int replica = 0; replica < replicas.count(); replica++) {
            parts.add(names.of(name, replica));
        }
        if (!type.dims().isEmpty() && type.dims().getFirst() < 0) {
            String all = name + "@all";
            to.put(desc.named(all));
            written.add(Appender
                    .complete(OpDesc.of("concat").in("X", parts).in("AxisTensor").out("Out", all).attr("axis", 0)
                            .attr(Roles.DEVICE, Place.CPU.toString()).build(), Roles.FORWARD));
            return all;
        }
        return switch (type.dtype()) {
            case FLOAT32, FLOAT64, FLOAT16, BFLOAT16, COMPLEX64, COMPLEX128 -> {
                String total = onHost(desc, OpDesc.of("sum").in("X", parts), "@total");
                yield onHost(desc,
                        OpDesc.of("scale").in("X", total).in("ScaleTensor").attr("scale", 1f / replicas.count()),
                        "@mean");
            }
            case BOOL -> throw new IllegalArgumentException(
                    "What is fetched of several places is their mean or sum, but '" + name
                            + "' is a truth value; cast it");
            default -> onHost(desc, OpDesc.of("sum").in("X", parts), "@total");
        };
    }

    private String onHost(VarDesc of, OpDesc.Builder op, String suffix) {
        String out = of.name() + suffix;
        to.put(of.named(out));
        written.add(
                Appender.complete(op.out("Out", out).attr(Roles.DEVICE, Place.CPU.toString()).build(), Roles.FORWARD));
        return out;
    }

    private static Set<String> written(Program program) {
        Set<String> names = new HashSet<>();
        program.blocks().forEach(block -> block.ops().forEach(op -> names.addAll(op.outputNames())));
        return names;
    }

    /**
     * A program that copies variables of the first replica to the others: all, or those that another program sets,
     * behind that one.
     */
    private Program copying(@Nullable Program behind, Set<String> set) {
        Program program = behind == null ? new Program() : behind.copy();
        program.randomSeed(behind == null ? main.randomSeed() : behind.randomSeed());
        Block block = program.global();
        for (VarDesc desc : from.vars()) {
            if (!desc.isPersistable() || (behind != null && !set.contains(desc.name()))) {
                continue;
            }
            Set<String> done = new HashSet<>(Set.of(desc.name()));
            for (int replica = 1; replica < replicas.count(); replica++) {
                String copy = names.of(desc.name(), replica);
                if (done.add(copy)) {
                    if (block.var(desc.name()) == null) {
                        block.put(desc);
                    }
                    block.put(desc.named(copy));
                    block.add(Appender.complete(OpDesc.of("assign").in("X", desc.name()).out("Out", copy)
                            .attr(Roles.DEVICE, replicas.place(replica).toString()).build(), Roles.FORWARD));
                }
            }
        }
        return program;
    }
}
