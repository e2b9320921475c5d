package io.seriatim.graph.interpret;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A block that runs once for each part of some sequences, and its gradient. Inside the block the name of a sequence is
 * that of its part; the names in {@code ex_states} are what the block had in {@code states} one part before, and first
 * the initial states.
 */
final class RecurrentInstructions {
    private final Program program;
    private final BlockRunner blocks;
    private final ControlInstructions control;

    RecurrentInstructions(Program program, BlockRunner blocks, ControlInstructions control) {
        this.program = program;
        this.blocks = blocks;
        this.control = control;
    }

    /** The names of one operation, and its length. */
    private record Shape(List<String> sequences, List<String> before, List<String> after, List<String> outputs,
            int length,
            boolean reverse) {
        static Shape of(OpDesc op, Environment environment) {
            Attrs attrs = Instructions.attrs(op);
            List<String> sequences = op.input("inputs");
            long[] lengths = sequences.stream().map(environment::tensor)
                    .mapToLong(each -> each.shape().rank() == 0 ? -1 : each.shape().dim(0)).distinct().toArray();
            if (lengths.length != 1 || lengths[0] < 1) {
                throw new IllegalArgumentException(
                        "The sequences " + sequences + " must have one length of at least 1, but have "
                                + Arrays.toString(lengths));
            }
            List<String> before = attrs.getTexts("ex_states");
            List<String> after = attrs.getTexts("states");
            if (before.size() != after.size() || before.size() != op.input("initial_states").size()) {
                throw new IllegalArgumentException(
                        "There must be as many states " + after + " as states before " + before
                                + " and initial states " + op.input("initial_states"));
            }
            return new Shape(sequences, before, after,
                    op.output("outputs").isEmpty() ? op.input("outputs") : op.output("outputs"),
                    Math.toIntExact(lengths[0]), attrs.getBool("reverse"));
        }

        /** Returns a new set of the variables that live in the environment of a step. */
        Set<String> claimed() {
            Set<String> claimed = new HashSet<>();
            List.of(sequences, before, after, outputs).forEach(claimed::addAll);
            return claimed;
        }

        int part(int step) {
            return reverse ? length - 1 - step : step;
        }
    }

    void forward(OpDesc op, Environment environment) {
        Shape shape = Shape.of(op, environment);
        Environment.Steps steps = new Environment.Steps();
        boolean keeps = Instructions.attrs(op).getBool("is_train");
        Set<String> exposed = keeps ? control.exposed(op, "step_scopes") : null;
        Map<String, Tensor[]> outputs = new HashMap<>();
        shape.outputs().forEach(name -> outputs.put(name, new Tensor[shape.length()]));
        List<Object> states = new ArrayList<>(op.input("initial_states").stream().map(environment::get).toList());
        try (BlockRunner.Steps runs = blocks.begin(ControlInstructions.block(program, op))) {
            forward(shape, control.layout(op), environment, exposed, states, outputs, keeps ? steps : null, runs);
        }
        outputs.forEach((name, parts) -> environment.set(name, VariableValues.stacked(0, Arrays.asList(parts))));
        op.output("step_scopes").forEach(name -> environment.set(name, steps));
    }

    private static void forward(Shape shape, StepLayout layout, Environment environment, @Nullable Set<String> exposed,
            List<Object> states, Map<String, Tensor[]> outputs, Environment.@Nullable Steps kept,
            BlockRunner.Steps runs) {
        Set<String> claimed = shape.claimed();
        for (int step = 0; step < shape.length(); step++) {
            Environment inner = new Environment(environment, layout);
            inner.claim(claimed);
            inner.memory(StepMemory.of(exposed));
            int part = shape.part(step);
            shape.sequences().forEach(
                    name -> setNew(inner, name, VariableValues.copy(environment.tensor(name).select(0, part))));
            for (int i = 0; i < states.size(); i++) {
                // The block may change it in place, but not the initial state or an output of the step before.
                setNew(inner, shape.before().get(i), VariableValues.copy(states.get(i)));
            }
            runs.run(inner);
            states.clear();
            shape.after().forEach(name -> states.add(inner.get(name)));
            outputs.forEach((name, parts) -> parts[part] = inner.tensor(name));
            if (kept != null) {
                kept.add(inner, Map.of());
            }
        }
    }

    /** Sets a variable to a value that was just made. */
    private static void setNew(Environment inner, String name, Object value) {
        inner.setHere(name, value);
        if (value instanceof Tensor tensor) {
            inner.gave(name, tensor, true);
        }
    }

    void gradient(OpDesc op, Environment environment) {
        try (GradientSums sums = new GradientSums();
                BlockRunner.Steps runs = blocks.begin(ControlInstructions.block(program, op))) {
            gradient(op, environment, sums, runs);
        }
    }

    private static void gradient(OpDesc op, Environment environment, GradientSums sums, BlockRunner.Steps runs) {
        Shape shape = Shape.of(op, environment);
        if (!(environment.find(op.input("step_scopes").getFirst()) instanceof Environment.Steps kept)
                || kept.steps().size() != shape.length()) {
            throw new IllegalArgumentException(
                    "The steps of the recurrence are not there: run it with the attribute is_train");
        }
        Map<String, @Nullable Tensor[]> parts = new HashMap<>();
        Map<String, Object> states = new HashMap<>();
        List<String> wanted = wanted(op, shape);
        List<Tensor> used = List.of();
        List<Tensor> last = new ArrayList<>();
        Set<String> gradients = gradients(op, shape);
        Set<String> claimed = shape.claimed();
        claimed.addAll(gradients);
        for (int step = shape.length() - 1; step >= 0; step--) {
            Environment inner = kept.steps().get(step).environment();
            StepMemory memory = inner.memory();
            if (memory != null) {
                memory.requireOpen();
            }
            int part = shape.part(step);
            inner.claim(claimed);
            gradients.forEach(inner::removeHere);
            enter(op, shape, environment, inner, part, states);
            runs.run(inner);
            wanted.forEach(name -> parts.computeIfAbsent(name,
                    _ -> new Tensor[shape.length()])[part] = (Tensor) found(inner, name));
            op.input("parameters").forEach(name -> sums.add(name, inner.here(GradientRule.gradient(name))));
            for (int i = 0; i < shape.before().size(); i++) {
                states.put(shape.after().get(i), found(inner, shape.before().get(i)));
            }
            if (memory != null) {
                List<Object> here = new ArrayList<>();
                wanted.forEach(name -> here.add(Objects.requireNonNull(parts.get(name))[part]));
                List<Object> results = sums.with(states.values());
                List<Tensor> open = memory.free(used,
                        tensor -> StepMemory.isIn(here, tensor) || StepMemory.isIn(results, tensor));
                last.addAll(open.stream().filter(tensor -> StepMemory.isIn(here, tensor)).toList());
                used = open.stream().filter(tensor -> !StepMemory.isIn(here, tensor)).toList();
                inner.removeClosed();
            }
        }
        leave(op, "inputs", environment,
                (name, _) -> VariableValues.stacked(0, Arrays.asList(Objects.requireNonNull(parts.get(name)))));
        leave(op, "initial_states", environment, (_, index) -> states.get(shape.after().get(index)));
        leave(op, "parameters", environment, (name, _) -> sums.get(name));
        List<Object> results = sums.with(states.values());
        StepMemory.close(last, tensor -> StepMemory.isIn(results, tensor));
    }

    /** Returns the sequences whose gradients are wanted. */
    private static List<String> wanted(OpDesc op, Shape shape) {
        List<String> gradients = op.output("inputs" + GradientRule.SUFFIX);
        List<String> wanted = new ArrayList<>();
        for (int i = 0; i < gradients.size(); i++) {
            if (!gradients.get(i).equals(GradientRule.EMPTY)) {
                wanted.add(shape.sequences().get(i));
            }
        }
        return wanted;
    }

    /** Returns the gradients that live in the environment of a step. */
    private static Set<String> gradients(OpDesc op, Shape shape) {
        Set<String> gradients = new HashSet<>();
        for (List<String> names : List.of(shape.sequences(), shape.before(), shape.after(), shape.outputs(),
                op.input("parameters"))) {
            names.forEach(name -> gradients.add(GradientRule.gradient(name)));
        }
        return gradients;
    }

    /**
     * The gradients that come into a step: those of its part of the outputs, and those of the states from the next
     * step.
     */
    private static void enter(OpDesc op, Shape shape, Environment environment, Environment inner, int part,
            Map<String, Object> states) {
        for (String name : shape.after()) {
            Object value = states.get(name);
            inner.setHere(GradientRule.gradient(name),
                    value == null ? VariableValues.zerosLike(inner.get(name)) : value);
        }
        for (int i = 0; i < shape.outputs().size(); i++) {
            Object whole = environment.find(op.input("outputs@GRAD").get(i));
            String name = shape.outputs().get(i);
            Object value = whole instanceof Tensor tensor
                    ? VariableValues.copy(tensor.select(0, part))
                    : VariableValues.zerosLike(inner.get(name));
            // An output may also be a state.
            inner.setHere(GradientRule.gradient(name),
                    VariableValues.sum(inner.here(GradientRule.gradient(name)), value));
        }
    }

    private static Object found(Environment inner, String name) {
        Object value = inner.here(GradientRule.gradient(name));
        return value == null ? VariableValues.zerosLike(inner.get(name)) : value;
    }

    /** The gradient of one variable of a slot. */
    @FunctionalInterface
    private interface Result {
        @Nullable
        Object of(String name, int index);
    }

    private static void leave(OpDesc op, String slot, Environment environment, Result result) {
        List<String> gradients = op.output(slot + GradientRule.SUFFIX);
        for (int i = 0; i < gradients.size(); i++) {
            if (!gradients.get(i).equals(GradientRule.EMPTY)) {
                String name = op.input(slot).get(i);
                Object value = result.of(name, i);
                environment.set(gradients.get(i),
                        value == null ? VariableValues.zerosLike(environment.get(name)) : value);
            }
        }
    }
}
