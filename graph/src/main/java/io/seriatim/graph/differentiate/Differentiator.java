package io.seriatim.graph.differentiate;

import io.seriatim.graph.op.Differentiation.Bindings;
import io.seriatim.graph.op.Lowered;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Step;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.kernel.Computation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes the gradient of an operation's steps: first those of the operation itself, as far as their values are needed,
 * then in reverse order what the {@link Rules} say of each.
 *
 * <p>
 * Steps write to memory, of which operands are views, so gradients belong to memory ({@link Adjoints}): a step takes
 * the gradient of the part that it writes, which from there on, towards the front, has none, and adds to the gradients
 * of the parts that it reads. A value that a later step overwrites is copied before.
 */
final class Differentiator {
    private final Lowering l;
    private final Lowering again;
    private final Lowered lowered;
    private final Bindings bindings;
    private final Adjoints adjoints;
    private final List<Step> steps = new ArrayList<>();
    /** Memory on which gradients that are wanted depend. */
    private final Set<Operand.Source> active = new HashSet<>();
    /** Memory of results that the gradient operation reads, so that they need not be computed again. */
    private final Map<Operand.Source, Operand.Source> given = new HashMap<>();
    private final Map<Operand.Source, Operand> temporaries = new HashMap<>();
    /** Inputs that the gradient operation does not read, by the memory that stands for them. */
    private final Map<Operand.Source, String> unread = new HashMap<>();
    /** By memory, the steps that write it. */
    private final Map<Operand.Source, List<Integer>> writers = new HashMap<>();
    /** By step, the copies that are made before it. */
    private final Map<Integer, List<Step>> saves = new HashMap<>();

    Differentiator(Lowering l, Lowering again, Lowered lowered, Bindings bindings) {
        this.l = l;
        this.again = again;
        this.lowered = lowered;
        this.bindings = bindings;
        adjoints = new Adjoints(l);
    }

    void run() {
        mark();
        for (Step step : lowered.steps()) {
            add(new Step(step.work(), moved(step.inputs()), moved(step.outputs())));
        }
        lowered.aliases().forEach((output, of) -> {
            List<@Nullable Operand> from = List.of(moved(of));
            add(new Step(new Step.Work.Compute(Copy.PLAIN), from, List.of(memory(output, of.spec()))));
        });
        for (int i = 0; i < steps.size(); i++) {
            for (Operand output : steps.get(i).outputs()) {
                if (output != null) {
                    writers.computeIfAbsent(output.source(), _ -> new ArrayList<>()).add(i);
                }
            }
        }
        given.keySet().removeIf(this::isRewritten);
        List<Step> backward = l.collect(() -> {
            seed();
            for (int i = steps.size() - 1; i >= 0; i--) {
                differentiate(i);
            }
            results();
        });
        for (int i = 0; i < steps.size(); i++) {
            saves.getOrDefault(i, List.of()).forEach(l::add);
            Step step = steps.get(i);
            List<@Nullable Operand> inputs = new ArrayList<>(step.inputs());
            inputs.replaceAll(each -> each == null ? null : value(each));
            l.add(new Step(step.work(), inputs, step.outputs()));
        }
        saves.getOrDefault(steps.size(), List.of()).forEach(l::add);
        backward.forEach(l::add);
        check(l.removeUnread());
    }

    private void check(Set<Operand.Source> read) {
        unread.forEach((source, slot) -> {
            if (read.contains(source)) {
                throw error("needs the value of " + slot + ", which '" + l.type()
                        + "' does not read; add it to the signature of the gradient");
            }
        });
        if (read.contains(new Operand.Source.RandomKey())) {
            throw error("would draw random numbers again; let '" + l.type() + "' read what was drawn");
        }
    }

    private IllegalArgumentException error(String problem) {
        return new IllegalArgumentException(
                "The gradient '" + l.type() + "' of operation '" + again.type() + "' " + problem);
    }

    /** Marks the memory whose gradients are wanted. */
    private void mark() {
        bindings.outgoing().forEach((slot, gradient) -> {
            for (int i = 0; i < again.op().input(slot).size(); i++) {
                if (l.wants(gradient, i) && again.type(slot, i).dtype().isDifferentiable()) {
                    active.add(moved(again.in(slot, i)).source());
                }
            }
        });
    }

    private Operand moved(Operand operand) {
        return switch (operand.source()) {
            case Operand.Source.Input(String slot, int index) -> {
                String bound = bindings.values().get(slot);
                yield bound == null
                        ? placed(operand, missing(slot, index))
                        : placed(operand, new Operand.Source.Input(bound, index));
            }
            case Operand.Source.Temporary(int number) ->
                placed(operand, memory(operand.source(), lowered.temporaries().get(number)).source());
            case Operand.Source.Output(String slot, int index) ->
                placed(operand, memory(operand.source(), again.output(slot, index).spec()).source());
            case Operand.Source.Constant _,Operand.Source.RandomKey _ -> operand;
            case Operand.Source.RowIndexes _,Operand.Source.OutputRowIndexes _ ->
                throw error("is derived for tensors, but not for rows of them; define its lowering");
        };
    }

    private static Operand placed(Operand operand, Operand.Source source) {
        return new Operand(source, operand.offset(), operand.spec());
    }

    private List<@Nullable Operand> moved(List<@Nullable Operand> operands) {
        List<@Nullable Operand> moved = new ArrayList<>(operands);
        moved.replaceAll(operand -> operand == null ? null : moved(operand));
        return moved;
    }

    private Operand.Source missing(String slot, int index) {
        Operand.Source of = new Operand.Source.Input(slot, index);
        Operand memory = temporaries.computeIfAbsent(of, _ -> l.temporary(again.in(slot, index).spec()));
        unread.put(memory.source(), slot);
        return memory.source();
    }

    /** Memory of this lowering for some of the operation's. */
    private Operand memory(Operand.Source source, TensorSpec spec) {
        Operand before = temporaries.get(source);
        if (before != null) {
            return before;
        }
        Operand memory = l.temporary(spec.rowMajor());
        temporaries.put(source, memory);
        if (source instanceof Operand.Source.Output(String slot, int index)) {
            String bound = bindings.values().get(slot);
            if (bound != null && index < l.count(bound)) {
                given.put(memory.source(), new Operand.Source.Input(bound, index));
            }
        }
        return memory;
    }

    /** Adds a step of the operation, or what its computation is expanded to. */
    private void add(Step step) {
        boolean isActive = step.inputs().stream().anyMatch(this::isActive);
        if (isActive) {
            List<Step> simpler = expanded(step);
            if (simpler != null) {
                simpler.forEach(this::add);
                return;
            }
        }
        if (isActive) {
            step.outputs().stream().filter(output -> output != null && output.dtype().isDifferentiable())
                    .forEach(output -> active.add(output.source()));
        }
        steps.add(step);
    }

    private boolean isActive(@Nullable Operand operand) {
        return operand != null && operand.dtype().isDifferentiable() && active.contains(operand.source());
    }

    /** What is differentiated in place of a step; null for itself. */
    private @Nullable List<Step> expanded(Step step) {
        return switch (step.work()) {
            case Step.Work.Compute(Computation computation) -> {
                Expansion<Computation> expansion = Rules.expansion(computation);
                yield expansion == null ? null : expanded(step, () -> expansion.expand(computation, l, step.inputs()));
            }
            case Step.Work.Call(var _, Step.Expandable(var _, var steps)) ->
                expanded(step, () -> new ArrayList<@Nullable Operand>(steps.of(l, present(step.inputs()))));
            case Step.Work.Call _ -> null;
        };
    }

    private List<Step> expanded(Step step, Supplier<List<@Nullable Operand>> expansion) {
        return l.collect(() -> {
            List<@Nullable Operand> results = expansion.get();
            for (int i = 0; i < step.outputs().size(); i++) {
                Operand to = step.outputs().get(i);
                Operand result = results.get(i);
                if (to != null && result != null) {
                    l.into(new Copy(to.dtype()), List.of(Views.fitted(l, result, to.shape())), List.of(to));
                }
            }
        });
    }

    /** Whether several steps write parts of a memory that have elements in common. */
    private boolean isRewritten(Operand.Source source) {
        List<Operand> parts = new ArrayList<>();
        for (int writer : writers.getOrDefault(source, List.of())) {
            for (Operand output : steps.get(writer).outputs()) {
                if (output != null && output.source().equals(source)) {
                    if (parts.stream().anyMatch(part -> Views.overlap(part, output))) {
                        return true;
                    }
                    parts.add(output);
                }
            }
        }
        return false;
    }

    private Operand value(Operand operand) {
        Operand.Source source = given.get(operand.source());
        return source == null ? operand : placed(operand, source);
    }

    private void seed() {
        bindings.incoming().forEach((slot, gradient) -> {
            for (int i : ReverseSteps.places(l.op(), gradient)) {
                Operand memory = temporaries.get(new Operand.Source.Output(slot, i));
                if (memory != null && active.contains(memory.source()) && l.source().type(gradient, i) != null) {
                    Operand incoming = l.cast(l.in(gradient, i), memory.dtype());
                    adjoints.addAll(memory, incoming.shape().equals(memory.shape())
                            ? incoming
                            : l.reshape(incoming, memory.shape().dims()));
                }
            }
        });
    }

    private void results() {
        bindings.outgoing().forEach((slot, gradient) -> {
            for (int i = 0; i < again.op().input(slot).size(); i++) {
                if (l.wants(gradient, i)) {
                    Operand sum = adjoints.whole(moved(again.in(slot, i)));
                    Operand to = l.output(gradient, i);
                    Operand value = sum == null ? l.fill(0, to.spec()) : sum;
                    l.out(gradient, i, value.shape().equals(to.shape()) ? value : l.reshape(value, to.shape().dims()));
                }
            }
        });
    }

    private void differentiate(int index) {
        Step step = steps.get(index);
        List<@Nullable Operand> gradients = new ArrayList<>();
        for (Operand output : step.outputs()) {
            Operand gradient = output == null || !active.contains(output.source()) || !output.dtype().isDifferentiable()
                    ? null
                    : adjoints.read(output);
            gradients.add(gradient);
            if (output != null && gradient != null && isWrittenBefore(output, index)) {
                adjoints.clear(output);
            }
        }
        if (gradients.stream().noneMatch(Objects::nonNull) || step.inputs().stream().noneMatch(this::isActive)) {
            return;
        }
        switch (step.work()) {
            case Step.Work.Call(String name, Step.HostFunction function) -> {
                if (!(function instanceof Step.Differentiable(var _, var rule))) {
                    throw error("cannot be derived: the step '" + name
                            + "' is a Java function without a gradient; give the call its gradient, or define a "
                            + "lowering of '" + l.type() + "'");
                }
                call(rule, new OfStep(index, gradients), step, gradients);
            }
            case Step.Work.Compute(Computation computation) -> {
                boolean complex = Stream.concat(step.inputs().stream(), step.outputs().stream())
                        .anyMatch(operand -> operand != null && operand.dtype().isComplex());
                Rule<Computation> rule = complex && !ComplexRules.isKnown(computation)
                        ? null
                        : Rules.rule(computation);
                if (rule == null) {
                    throw error("cannot be derived: there is no rule for the gradient of its step '"
                            + computation.operation() + (complex ? "' of complex numbers" : "'")
                            + "; define a lowering of '" + l.type() + "'");
                }
                rule.differentiate(computation, new OfStep(index, gradients));
            }
        }
    }

    private void call(Step.Gradients rule, Derivative d, Step step, List<@Nullable Operand> gradients) {
        List<Operand> inputs = new ArrayList<>();
        for (int i = 0; i < step.inputs().size(); i++) {
            inputs.add(d.in(i));
        }
        List<Operand> outputs = new ArrayList<>();
        for (int i = 0; i < step.outputs().size(); i++) {
            outputs.add(d.out(i));
        }
        List<@Nullable Operand> found = rule.of(l, inputs, outputs, gradients);
        for (int i = 0; i < found.size(); i++) {
            Operand gradient = found.get(i);
            if (gradient != null) {
                d.give(i, gradient);
            }
        }
    }

    private static List<Operand> present(List<@Nullable Operand> operands) {
        return operands.stream().map(operand -> Objects.requireNonNull(operand, "an operand of a Java function"))
                .toList();
    }

    /** Whether an earlier step gives a part of memory a value on which gradients depend. */
    private boolean isWrittenBefore(Operand output, int index) {
        for (int writer : writers.getOrDefault(output.source(), List.of())) {
            Step step = steps.get(writer);
            if (writer < index && step.inputs().stream().anyMatch(this::isActive) && writes(step, output)) {
                return true;
            }
        }
        return steps.get(index).inputs().stream().anyMatch(input -> input != null && Views.overlap(input, output));
    }

    private static boolean writes(Step step, Operand part) {
        return step.outputs().stream().anyMatch(output -> output != null && Views.overlap(output, part));
    }

    /** The value that a part of memory has before a step. */
    private Operand valueBefore(Operand operand, int index) {
        for (int writer : writers.getOrDefault(operand.source(), List.of())) {
            if (writer >= index && writes(steps.get(writer), operand)) {
                Operand saved = l.temporary(operand.spec().rowMajor());
                saves.computeIfAbsent(index, _ -> new ArrayList<>())
                        .add(new Step(new Step.Work.Compute(Copy.PLAIN), List.of(operand), List.of(saved)));
                return saved;
            }
        }
        return value(operand);
    }

    /** One of the steps, with the gradients of its results. */
    private final class OfStep implements Derivative {
        private final int index;
        private final Step step;
        private final List<@Nullable Operand> gradients;

        OfStep(int index, List<@Nullable Operand> gradients) {
            this.index = index;
            this.gradients = gradients;
            step = steps.get(index);
        }

        @Override
        public Lowering l() {
            return l;
        }

        private Operand operand(List<@Nullable Operand> operands, int at) {
            Operand operand = operands.get(at);
            if (operand == null) {
                throw new IllegalStateException("Operand " + at + " of step " + step.work() + " is left out");
            }
            return operand;
        }

        @Override
        public Operand in(int at) {
            return valueBefore(operand(step.inputs(), at), index);
        }

        @Override
        public Operand like(int at) {
            return operand(step.inputs(), at);
        }

        @Override
        public boolean has(int at) {
            return at < step.inputs().size() && step.inputs().get(at) != null;
        }

        @Override
        public Operand out(int at) {
            Operand operand = operand(step.outputs(), at);
            return valueBefore(operand, index + 1);
        }

        @Override
        public boolean isGiven(int at) {
            Operand output = step.outputs().get(at);
            return output != null && given.containsKey(output.source());
        }

        @Override
        public @Nullable Operand gradient(int at) {
            return at < gradients.size() ? gradients.get(at) : null;
        }

        @Override
        public boolean wants(int at) {
            return at < step.inputs().size() && isActive(step.inputs().get(at));
        }

        @Override
        public void give(int at, Operand gradient) {
            if (wants(at)) {
                Operand to = operand(step.inputs(), at);
                adjoints.add(to, Views.fitted(l, l.cast(gradient, to.dtype()), to.shape()));
            }
        }
    }
}
