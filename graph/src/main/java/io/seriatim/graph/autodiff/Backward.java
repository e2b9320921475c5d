package io.seriatim.graph.autodiff;

import io.seriatim.graph.append.Appender;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.ParameterGradient;
import io.seriatim.graph.program.Program;
import io.seriatim.graph.program.Roles;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.graph.program.VarType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Adds the operations that compute gradients, with the names and in the order of Paddle.
 *
 * <p>
 * The steps: the operations on the way from what may have a gradient to the target ({@link OpPath}); for each,
 * backwards, the operations of its gradient, those of its blocks first; sums where a variable has several
 * ({@link Accumulation}); pruning of gradients that are not wanted, and zeros for gradients that no operation computes
 * ({@link GradientPruning}); finally the variables, with their inferred types.
 */
public final class Backward {
    private final Program program;
    private final int maxChainedAdditions;
    /** For each block the gradients (by name) that are not wanted. */
    private final Map<Integer, Set<String>> unwanted = new HashMap<>();
    private final Map<Integer, List<OpDesc>> paths = new HashMap<>();
    private final Map<String, String> renamed = new HashMap<>();
    private final GradientReads reads;
    private final int call;
    /**
     * Whether the program has no gradients yet. Gradients of an earlier call must not be taken for those of this one.
     */
    private final boolean firstCall;

    private Backward(Program program, int maxChainedAdditions) {
        this.program = program;
        this.maxChainedAdditions = maxChainedAdditions;
        this.reads = new GradientReads(program);
        this.call = program.nextGradientCall();
        this.firstCall = call == 1
                && program.global().vars().stream().noneMatch(desc -> desc.name().contains(GradientRule.SUFFIX));
        for (Block block : program.blocks()) {
            Set<String> stopped = new HashSet<>();
            block.vars().stream().filter(VarDesc::stopsGradient)
                    .forEach(desc -> stopped.add(GradientRule.gradient(desc.name())));
            unwanted.put(block.index(), stopped);
        }
    }

    /** Gradients of a loss, for training. Returns the names of parameters with those of their gradients. */
    public static List<ParameterGradient> append(Program program, String loss, List<String> parameters,
            Set<String> noGradient,
            int maxChainedAdditions) {
        RecordedControlFlow.rewrite(program, List.of(loss));
        Backward backward = new Backward(program, maxChainedAdditions);
        return backward.ofLoss(loss, parameters, noGradient);
    }

    private List<ParameterGradient> ofLoss(String loss, List<String> parameters, Set<String> noGradient) {
        Block block = program.global();
        markLoss(block, loss);
        Set<String> stopped = stopped(block, noGradient);
        List<OpDesc> path = OpPath.find(block, Set.of(loss), Set.of(), stopped, paths);
        stopped.addAll(OpPath.unused(block, path, List.of(loss), stopped));
        stopped.forEach(name -> unwanted(block).add(GradientRule.gradient(name)));
        int from = block.ops().size();
        String seed = freshSeed(block, loss);
        Appender.append(block, ones(block.get(loss), seed), Roles.BACKWARD | Roles.LOSS);
        emit(block, path, block, List.of(), Set.of(seed), Set.of(seed));
        declare(block, from + 1);
        List<ParameterGradient> pairs = new ArrayList<>();
        for (String parameter : parameters) {
            String gradient = renamed.getOrDefault(GradientRule.gradient(parameter), GradientRule.gradient(parameter));
            if (block.find(gradient) != null && writes(block, from, gradient)) {
                pairs.add(new ParameterGradient(parameter, gradient));
            }
        }
        pairs.forEach(pair -> annotate(block, pair));
        return pairs;
    }

    /** The gradient of a loss with regard to itself. Of a loss with unknown dimensions it takes them at run time. */
    private static OpDesc ones(VarDesc loss, String seed) {
        VarType.TensorType type = loss.tensor();
        OpDesc.Builder fill = type.dims().stream().anyMatch(dim -> dim < 0)
                ? OpDesc.of("fill_any_like").in("X", loss.name())
                : OpDesc.of("fill_constant").attr("shape", type.shape());
        return fill.out("Out", seed).attr("value", 1f).attr("dtype", type.dataType()).build();
    }

    private static boolean writes(Block block, int from, String name) {
        return block.ops().subList(from, block.ops().size()).stream().anyMatch(op -> op.outputNames().contains(name));
    }

    /** The operation that makes the loss gets its role, as Paddle's tools expect. */
    private static void markLoss(Block block, String loss) {
        for (int i = block.ops().size() - 1; i >= 0; i--) {
            OpDesc op = block.ops().get(i);
            if (op.outputNames().contains(loss)) {
                block.set(i, op.with(Roles.ATTRIBUTE, Roles.of(op) | Roles.LOSS));
                return;
            }
        }
        throw new IllegalArgumentException(
                "Nothing computes the loss '" + loss + "'; give a variable that operations of the program write");
    }

    private Set<String> unwanted(Block block) {
        return unwanted.computeIfAbsent(block.index(), _ -> new HashSet<>());
    }

    private Set<String> stopped(Block block, Set<String> noGradient) {
        Set<String> stopped = new HashSet<>(noGradient);
        unwanted(block).forEach(name -> stopped.add(name.substring(0, name.length() - GradientRule.SUFFIX.length())));
        return stopped;
    }

    private String renamedGradient(String name) {
        return "grad/".repeat(call) + name;
    }

    /** Gradients of some variables with regard to others. Returns the gradients' names; null where there is none. */
    public static List<@Nullable String> gradients(Program program, List<String> targets,
            List<@Nullable String> targetGradients,
            List<String> inputs, Set<String> noGradient) {
        RecordedControlFlow.rewrite(program, targets);
        Backward backward = new Backward(program, 0);
        return backward.ofTargets(targets, targetGradients, inputs, noGradient);
    }

    private List<@Nullable String> ofTargets(List<String> targets, List<@Nullable String> targetGradients,
            List<String> inputs,
            Set<String> noGradient) {
        if (!targetGradients.isEmpty() && targetGradients.size() != targets.size()) {
            throw new IllegalArgumentException(
                    "Each target has a gradient of its own, or none is given, but there are " + targets.size()
                            + " targets and " + targetGradients.size() + " gradients");
        }
        Block block = program.global();
        Set<String> stopped = stopped(block, noGradient);
        inputs.forEach(stopped::remove);
        inputs.forEach(name -> unwanted(block).remove(GradientRule.gradient(name)));
        List<OpDesc> path = OpPath.find(block, new HashSet<>(targets), new HashSet<>(inputs), stopped, paths);
        stopped.addAll(OpPath.unused(block, path, targets, stopped));
        stopped.removeAll(inputs);
        stopped.forEach(name -> unwanted(block).add(GradientRule.gradient(name)));
        int from = block.ops().size();
        Set<String> seeds = new HashSet<>();
        List<OpDesc> fills = new ArrayList<>();
        for (int i = 0; i < targets.size(); i++) {
            String given = targetGradients.isEmpty() ? null : targetGradients.get(i);
            seeds.add(seed(block, targets.get(i), given, isRead(path, targets.get(i)), fills));
        }
        emit(block, path, block, fills, seeds, seeds);
        declare(block, from);
        List<@Nullable String> gradients = new ArrayList<>();
        for (String input : inputs) {
            String gradient = renamed.getOrDefault(GradientRule.gradient(input), GradientRule.gradient(input));
            gradients.add(writes(block, from, gradient) ? gradient : null);
        }
        return gradients;
    }

    private static boolean isRead(List<OpDesc> path, String target) {
        return path.stream().anyMatch(op -> op.inputNames().contains(target));
    }

    /**
     * The gradient that a target starts with. One that is not the target's only gradient is computed by an operation,
     * so that it is summed with the others.
     */
    private String seed(Block block, String target, @Nullable String given, boolean read, List<OpDesc> fills) {
        VarDesc desc = block.get(target);
        if (given != null) {
            VarDesc gradient = block.get(given);
            if (!gradient.tensor().equals(desc.tensor())) {
                throw new IllegalArgumentException(
                        "The gradient '" + given + "' of target '" + target + "' must be " + desc.tensor()
                                + " as the target is, but is " + gradient.tensor());
            }
            if (!read) {
                renamed.put(GradientRule.gradient(target), given);
                return given;
            }
        }
        String seed = freshSeed(block, target);
        OpDesc.Builder fill = given != null
                ? OpDesc.of("scale").in("X", given).attr("scale", 1f)
                : OpDesc.of("fill_any_like").in("X", target).attr("value", 1f).attr("dtype", desc.tensor().dataType());
        fills.add(fill.out("Out", seed).attr(Roles.SCOPE, "").build());
        return seed;
    }

    /**
     * The name of a target's gradient. One that an earlier call has used is left alone: its value may be that call's
     * answer.
     */
    private String freshSeed(Block block, String target) {
        String name = GradientRule.gradient(target);
        String seed = unused(block, name);
        if (!seed.equals(name)) {
            renamed.put(name, seed);
        }
        return seed;
    }

    private static String unused(Block block, String name) {
        String unused = name;
        for (int i = 0; block.find(unused) != null; i++) {
            unused = name + "_" + i;
        }
        return unused;
    }

    /** Emits the gradients of a path into a block, which is the parent of those that gradients of blocks get. */
    private void emit(Block forward, List<OpDesc> path, Block into, List<OpDesc> first, Set<String> targets,
            @Nullable Set<String> seeds) {
        List<OpDesc> gradients = new ArrayList<>();
        GradientsOfConstants ofConstants = new GradientsOfConstants();
        IdentityHashMap<OpDesc, List<String>> overwritten = overwritten(forward);
        for (OpDesc op : path.reversed()) {
            @Nullable
            Block inner = ControlGradients.block(op) < 0 ? null : gradientBlock(op, into.index());
            Predicate<String> wanted = name -> !unwanted(forward).contains(GradientRule.gradient(name));
            List<OpDesc> made = inner == null
                    ? new ArrayList<>(GradientPruning.make(op, wanted, name -> isDiscrete(forward, name)))
                    : ControlGradients.make(op, inner, program, wanted);
            if (inner == null) {
                made.addAll(ofConstants.further(op, made, name -> wanted.test(name) && !isDiscrete(forward, name)));
            }
            reads.check(forward, op, made);
            // A priority is that of the forward operation alone.
            made.stream().map(each -> each.builtWith(op))
                    .map(each -> each.attribute(Roles.PRIORITY) == null ? each : each.without(Set.of(Roles.PRIORITY)))
                    .forEach(
                            each -> gradients.add(into == program.global() ? withoutCollisions(each, op, into) : each));
            overwritten.getOrDefault(op, List.of()).stream().filter(wanted).map(name -> nothing(into, name))
                    .forEach(gradients::add);
        }
        List<OpDesc> reached = new ArrayList<>(first);
        reached.addAll(seeds == null || firstCall ? gradients : GradientPruning.reached(gradients, seeds));
        boolean isInner = into.forward() != Block.NONE;
        Set<String> left = new HashSet<>();
        forward.ops()
                .forEach(op -> op.outputNames().stream().filter(name -> isInner && forward.var(name) == null)
                        .map(GradientRule::gradient)
                        .forEach(left::add));
        List<OpDesc> summed = Accumulation.of(reached, forward.index(), maxChainedAdditions, left::contains);
        // Seeds are the gradients with which the targets begin. They are not subject to pruning.
        List<OpDesc> kept = new ArrayList<>(summed.subList(0, first.size()));
        Predicate<String> fromOutside = name -> isInner && forward.var(forward(name)) == null;
        kept.addAll(GradientPruning.prune(summed.subList(first.size(), summed.size()), unwanted(forward), targets,
                fromOutside));
        List<OpDesc> fresh = into.forward() == Block.NONE ? withoutOverwriting(kept, first.size(), into) : kept;
        fresh.forEach(each -> into.add(Appender.complete(each, Roles.BACKWARD)));
    }

    private static boolean isDiscrete(Block block, String name) {
        VarDesc desc = block.find(name);
        return desc != null && MissingGradients.isDiscrete(desc);
    }

    /**
     * The variables that had a value before an operation overwrites them without reading it. The first write in a step
     * of a loop is left to the loop, which passes gradients from step to step.
     */
    private static IdentityHashMap<OpDesc, List<String>> overwritten(Block block) {
        OpDesc runner = runner(block);
        boolean isStep = runner != null && runner.type().equals("while");
        List<String> before = runner == null ? List.of() : runner.inputNames();
        IdentityHashMap<OpDesc, List<String>> overwritten = new IdentityHashMap<>();
        Set<String> written = new HashSet<>();
        for (OpDesc op : block.ops()) {
            List<String> names = ControlGradients.block(op) >= 0 ? List.of() : op.outputNames();
            for (String name : names) {
                VarDesc desc = block.find(name);
                boolean hadValue = written.contains(name)
                        || (isStep && block.var(name) == null && isReadAfter(block, op, name))
                        || (desc != null && !isStep
                                && (before.contains(name) || desc.isPersistable() || desc.needCheckFeed() != null));
                if (hadValue && desc != null && desc.type() instanceof VarType.Dense
                        && !op.inputNames().contains(name)) {
                    overwritten.computeIfAbsent(op, _ -> new ArrayList<>()).add(name);
                }
            }
            written.addAll(op.outputNames());
        }
        return overwritten;
    }

    /**
     * Reads after the last write of a step add to the gradient that comes from the next step. None of it belongs to the
     * value before the write.
     */
    @SuppressWarnings("ReferenceEquality") // The same description may stand in several places.
    private static boolean isReadAfter(Block block, OpDesc write, String name) {
        boolean passed = false;
        for (OpDesc op : block.ops()) {
            if (passed && op.inputNames().contains(name)) {
                return true;
            }
            passed |= op == write;
        }
        return false;
    }

    /** No gradient flows through an overwriting operation to the variable's earlier value. */
    private OpDesc nothing(Block into, String name) {
        String own = GradientRule.gradient(name);
        String gradient = into == program.global() ? renamed.getOrDefault(own, own) : own;
        return OpDesc.of("fill_any_like").in("X", gradient).out("Out", gradient).attr("value", 0f).attr("dtype", -1)
                .attr(Roles.SCOPE, "")
                .build();
    }

    /** Zeros and sums do not touch gradients of an earlier call either. */
    private List<OpDesc> withoutOverwriting(List<OpDesc> ops, int from, Block block) {
        Map<String, String> moved = new HashMap<>();
        List<OpDesc> result = new ArrayList<>(ops.subList(0, from));
        for (OpDesc op : ops.subList(from, ops.size())) {
            OpDesc reading = op.renamed(name -> moved.getOrDefault(name, name), name -> name);
            result.add(reading.renamed(name -> name, name -> {
                if (!name.contains(GradientRule.SUFFIX) || block.find(name) == null) {
                    return name;
                }
                return moved.computeIfAbsent(name, _ -> unused(block, name));
            }));
        }
        renamed.replaceAll((_, name) -> moved.getOrDefault(name, name));
        moved.forEach(renamed::putIfAbsent);
        return result;
    }

    private Block gradientBlock(OpDesc op, int current) {
        Block forward = program.block(ControlGradients.block(op));
        Block gradient = program.addBlock(current, forward.index());
        emit(forward, paths.getOrDefault(forward.index(), List.of()), gradient, List.of(), Set.of(), null);
        return gradient;
    }

    /**
     * From the second call on a program the name of a gradient may be taken. Inner blocks have theirs to themselves.
     */
    private OpDesc withoutCollisions(OpDesc gradient, OpDesc op, Block block) {
        List<String> ofForward = op.inputNames();
        boolean runsBlock = ControlGradients.block(op) >= 0;
        OpDesc changed = gradient.renamed(
                name -> ofForward.contains(name)
                        ? name
                        : renamed.getOrDefault(name, runsBlock ? unlessEarlier(block, name) : name),
                name -> name);
        return changed.renamed(name -> name, name -> {
            if (call < 2 || !name.contains(GradientRule.SUFFIX) || block.find(name) == null) {
                return name;
            }
            return renamed.computeIfAbsent(name, this::renamedGradient);
        });
    }

    /** A gradient that only an earlier call has computed does not belong to this call. */
    private String unlessEarlier(Block block, String name) {
        return !firstCall && name.endsWith(GradientRule.SUFFIX) && block.find(name) != null ? GradientRule.EMPTY : name;
    }

    /**
     * Declares the variables of the operations from an index on; operations whose incoming gradients are missing are
     * removed.
     */
    private void declare(Block block, int from) {
        List<OpDesc> ops = new ArrayList<>(block.ops().subList(0, from));
        for (OpDesc op : List.copyOf(block.ops().subList(from, block.ops().size()))) {
            OpDesc kept = GradientPruning.existing(op, block, parentOp(block));
            op.attributes().forEach(
                    each -> each.value().blocks().forEach(index -> declareInner(program.block(index), kept != null)));
            if (kept != null) {
                for (String missing : GradientPruning.missing(kept, block, parentOp(block))) {
                    OpDesc zeros = Appender.complete(OpDesc.of("fill_any_like").in("X", forward(missing))
                            .out("Out", missing).attr("value", 0f).attr("dtype", -1).attr(Roles.SCOPE, "").build(),
                            Roles.BACKWARD);
                    declare(block, zeros);
                    ops.add(zeros);
                }
                declareRead(block, kept);
                declare(block, kept);
                ops.add(kept);
            }
        }
        block.setOps(ops);
    }

    /** A block that no operation runs is left empty: the variables that it would read may not exist. */
    private void declareInner(Block block, boolean runs) {
        if (runs) {
            declare(block, 0);
        } else {
            block.setOps(List.of());
        }
    }

    private @Nullable OpDesc parentOp(Block block) {
        return block.forward() == Block.NONE ? null : runner(block);
    }

    /** The operation that runs a block. */
    private static @Nullable OpDesc runner(Block block) {
        for (Block each : block.program().blocks()) {
            for (OpDesc op : each.ops()) {
                if (ControlGradients.block(op) == block.index()) {
                    return op;
                }
            }
        }
        return null;
    }

    /** The gradient of a loop's variable may come only from a later step. */
    private static void declareRead(Block block, OpDesc op) {
        if (block.forward() == Block.NONE) {
            return;
        }
        for (String name : op.inputNames()) {
            VarDesc of = name.contains(GradientRule.SUFFIX) && block.find(name) == null
                    ? block.program().block(block.forward()).find(forward(name))
                    : null;
            if (of != null && of.type().tensorType() != null) {
                block.put(VarDesc.of(name, of.type()));
            }
        }
    }

    private static void declare(Block block, OpDesc op) {
        Set<String> fresh = new HashSet<>();
        op.outputNames().stream().filter(name -> block.find(name) == null).forEach(fresh::add);
        Appender.declare(block, op, Appender.infer(block, op));
        for (String name : fresh) {
            VarDesc desc = block.var(name);
            // A step of a recurrence has parts of what is called the same outside.
            VarDesc of = (block.forward() == Block.NONE ? block : block.program().block(block.forward()))
                    .find(forward(name));
            VarType.TensorType tensor = of == null ? null : of.type().tensorType();
            if (desc != null && tensor != null) {
                block.put(desc.with(
                        of != null && of.type() instanceof VarType.TensorArray ? of.type() : desc.type().with(tensor)));
            }
        }
    }

    /**
     * The variable of which a name is the gradient: without the suffix and what follows it, and without what earlier
     * calls put before it.
     */
    public static String forward(String gradient) {
        int end = gradient.indexOf(GradientRule.SUFFIX);
        int start = gradient.lastIndexOf("grad/");
        return gradient.substring(start < 0 ? 0 : start + 5, end < 0 ? gradient.length() : end);
    }

    private static void annotate(Block block, ParameterGradient pair) {
        for (int i = block.ops().size() - 1; i >= 0; i--) {
            OpDesc op = block.ops().get(i);
            if (op.outputNames().contains(pair.gradient())) {
                List<String> pairs = new ArrayList<>(List.of(pair.parameter(), pair.gradient()));
                if (op.attribute(Roles.VARIABLES) instanceof Attribute.Texts(List<String> before)) {
                    pairs.addAll(before);
                }
                block.set(i, op.with(Roles.VARIABLES, pairs.toArray(String[]::new)));
                return;
            }
        }
    }
}
