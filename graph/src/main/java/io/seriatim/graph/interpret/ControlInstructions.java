package io.seriatim.graph.interpret;

import io.seriatim.graph.autodiff.Backward;
import io.seriatim.graph.autodiff.ControlGradients;
import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.program.Block;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Branches, loops, and their gradients.
 *
 * <p>
 * Each time that a block runs it has an environment of its own, which stays for the gradient. A loop's variables are
 * the ones outside, which its steps overwrite; so each step keeps what they were before it. The gradient of a loop
 * walks through the steps backwards. The gradient of a loop's variable is passed from step to step; the gradients of a
 * variable that the loop only reads are added up over the steps. A step whose block does not write a gradient adds
 * nothing, and a branch that was not taken gives zeros.
 */
final class ControlInstructions {
    private final Program program;
    private final BlockRunner blocks;
    private final ControlFacts facts;

    /**
     * What is the same in all runs of a loop.
     *
     * @param layout
     *            that of the environments of its steps
     * @param keeps
     *            whether its steps are kept for its gradient
     * @param variables
     *            the variables whose values before each step are kept
     * @param inPlace
     *            those of them that a step may change in place
     * @param exposed
     *            the variables of a step whose tensors are not closed when its gradient has run; null if none are
     */
    record Loop(Block block, StepLayout layout, String condition, boolean keeps, List<String> variables,
            List<String> inPlace,
            @Nullable Set<String> exposed) {
    }

    /**
     * What is the same in all runs of the gradient of a branch or loop.
     *
     * @param written
     *            the variables that its block writes
     * @param gradients
     *            those of them that have names of gradients
     */
    record Gradient(Block block, Set<String> written, Set<String> gradients) {
    }

    ControlInstructions(Program program, BlockRunner blocks, ControlFacts facts) {
        this.program = program;
        this.blocks = blocks;
        this.facts = facts;
    }

    /** Returns whether the steps of a loop or branch are kept: an operation of the program reads them. */
    @SuppressWarnings("ReferenceEquality") // An equal operation elsewhere is another one.
    boolean keepsSteps(OpDesc op) {
        synchronized (facts) {
            return facts.kept.computeIfAbsent(op, _ -> {
                Map<String, List<OpDesc>> all = readers();
                return Stream.of("Scope", "StepScopes").flatMap(slot -> op.output(slot).stream())
                        .anyMatch(all::containsKey);
            });
        }
    }

    /** Returns the operations that read each variable of the program, which may have very many loops and branches. */
    private Map<String, List<OpDesc>> readers() {
        Map<String, List<OpDesc>> known = facts.readers;
        if (known == null) {
            known = new HashMap<>();
            for (Block block : program.blocks()) {
                for (OpDesc op : block.ops()) {
                    for (String name : op.inputNames()) {
                        known.computeIfAbsent(name, _ -> new ArrayList<>(1)).add(op);
                    }
                }
            }
            facts.readers = known;
        }
        return known;
    }

    /**
     * Returns the variables of steps that are kept whose tensors are not closed when the gradient of the step has run;
     * null if none are.
     *
     * @param slot
     *            of the operation's output that has the steps
     */
    @Nullable
    Set<String> exposed(OpDesc op, String slot) {
        List<String> steps = op.output(slot);
        if (!blocks.isExecuted() || steps.size() != 1) {
            return null;
        }
        synchronized (facts) {
            return facts.exposed.computeIfAbsent(op, _ -> Optional.ofNullable(StepMemory.exposed(program, op,
                    readers().getOrDefault(steps.getFirst(), List.of())))).orElse(null);
        }
    }

    static Block block(Program program, OpDesc op) {
        int index = ControlGradients.block(op);
        if (index <= 0) {
            throw new IllegalArgumentException(
                    "Operation '" + op.type() + "' needs the attribute 'sub_block', a block of the program other "
                            + "than its first");
        }
        return program.block(index);
    }

    void conditional(OpDesc op, Environment environment) {
        Environment.Steps steps = new Environment.Steps();
        op.output("Scope").forEach(name -> environment.set(name, steps));
        if (isTaken(op, environment)) {
            Environment inner = new Environment(environment);
            blocks.run(block(program, op), inner);
            if (keepsSteps(op)) {
                steps.add(inner, Map.of());
            }
        }
    }

    private static boolean isTaken(OpDesc op, Environment environment) {
        Attrs attrs = Instructions.attrs(op);
        if (attrs.getBool("is_scalar_condition")) {
            return truth(op.input("Cond").getFirst(), environment);
        }
        return op.input("Cond").stream().allMatch(name -> environment.tensor(name).shape().size() > 0);
    }

    static boolean truth(String name, Environment environment) {
        Tensor condition = environment.tensor(name);
        if (condition.shape().size() != 1) {
            throw new IllegalArgumentException(
                    "The condition '" + name + "' must be one element, but is " + condition.spec());
        }
        return condition.getLong(new long[condition.shape().rank()]) != 0;
    }

    void conditionalGradient(OpDesc op, Environment environment) {
        List<String> inputs = op.input("Input");
        List<String> gradients = op.output("Input@GRAD");
        List<Environment.Step> taken = steps(op, "Scope", environment).steps();
        Map<String, Object> incoming = incoming(op, op.input("Out").stream().map(GradientRule::gradient).toList(),
                environment);
        Environment inner = taken.isEmpty() ? null : taken.getFirst().environment();
        if (inner != null) {
            Gradient gradient = gradient(op);
            List<String> outgoing = wanted(inputs, gradients);
            try (BlockRunner.Steps runs = blocks.begin(gradient.block())) {
                runGradient(runs, inner, claimed(gradient, incoming.keySet(), outgoing, Set.of()), incoming, outgoing,
                        Map.of());
            }
        }
        for (int i = 0; i < gradients.size(); i++) {
            if (!gradients.get(i).equals(GradientRule.EMPTY)) {
                String name = GradientRule.gradient(inputs.get(i));
                // Gradients of variables that a branch not taken would have changed pass through.
                Object value = inner == null ? incoming.get(name) : inner.here(name);
                // What only the branch reads may have no value if it was not taken: nothing asks for its gradient.
                if (value != null || inner != null || environment.find(inputs.get(i)) != null) {
                    environment.set(gradients.get(i),
                            value == null ? VariableValues.zerosLike(environment.get(inputs.get(i))) : value);
                }
            }
        }
    }

    /**
     * Runs the block of a gradient in the environment in which its forward block has run, with the incoming gradients.
     * The results of some names stay there.
     */
    private static void runGradient(BlockRunner.Steps runs, Environment inner, Set<String> claimed,
            Map<String, Object> incoming, Collection<String> outgoing, Map<String, Object> after) {
        inner.claim(claimed);
        outgoing.forEach(inner::removeHere);
        incoming.forEach(inner::setHere);
        after.forEach((name, value) -> inner.setHere(name, VariableValues.copy(value)));
        runs.run(inner);
    }

    /** Returns the variables that live in the environment of a step when its gradient runs. */
    private static Set<String> claimed(Gradient gradient, Set<String> incoming, Collection<String> outgoing,
            Set<String> after) {
        // Other results of the block may have the names of gradients outside.
        Set<String> claimed = new HashSet<>(gradient.gradients());
        claimed.addAll(incoming);
        claimed.addAll(outgoing);
        claimed.addAll(after);
        return claimed;
    }

    private Gradient gradient(OpDesc op) {
        synchronized (facts) {
            Gradient known = facts.gradients.get(op);
            if (known == null) {
                Block block = block(program, op);
                Set<String> written = written(block);
                known = new Gradient(block, written, written.stream()
                        .filter(name -> name.contains(GradientRule.SUFFIX)).collect(Collectors.toSet()));
                facts.gradients.put(op, known);
            }
            return known;
        }
    }

    /** Returns the layout of the environments of an operation's steps. */
    StepLayout layout(OpDesc op) {
        synchronized (facts) {
            return facts.layouts.computeIfAbsent(op, _ -> StepLayout.of(block(program, op)));
        }
    }

    private static List<String> wanted(List<String> inputs, List<String> gradients) {
        List<String> wanted = new ArrayList<>();
        for (int i = 0; i < gradients.size(); i++) {
            if (!gradients.get(i).equals(GradientRule.EMPTY)) {
                wanted.add(GradientRule.gradient(inputs.get(i)));
            }
        }
        return wanted;
    }

    /**
     * The gradients of an operation's outputs under their names in the block; zeros for those that no operation
     * computes.
     */
    private static Map<String, Object> incoming(OpDesc op, List<String> names, Environment environment) {
        List<String> outer = op.input("Out@GRAD");
        if (outer.size() != names.size()) {
            throw new IllegalArgumentException(
                    "There must be a gradient for each of " + names + ", but there are " + outer);
        }
        Map<String, Object> incoming = new LinkedHashMap<>();
        for (int i = 0; i < names.size(); i++) {
            Object value = outer.get(i).equals(GradientRule.EMPTY) ? null : environment.find(outer.get(i));
            if (value == null) {
                Object forward = environment.find(Backward.forward(names.get(i)));
                value = forward == null ? null : VariableValues.zerosLike(forward);
            }
            if (value != null) {
                incoming.put(names.get(i), value);
            }
        }
        return incoming;
    }

    private static Environment.Steps steps(OpDesc op, String slot, Environment environment) {
        String name = op.input(slot).getFirst();
        if (environment.find(name) instanceof Environment.Steps steps) {
            return steps;
        }
        throw new IllegalArgumentException(
                "Variable '" + name + "' holds no steps: the operation whose gradient this is has not run, or "
                        + "was run with is_test");
    }

    void loop(OpDesc op, Environment environment) {
        Loop loop = loop(op);
        Environment.Steps steps = new Environment.Steps();
        op.output("StepScopes").forEach(name -> environment.set(name, steps));
        try (BlockRunner.Steps runs = blocks.begin(loop.block())) {
            loop(loop, environment, steps, runs);
        }
    }

    private static void loop(Loop loop, Environment environment, Environment.Steps steps, BlockRunner.Steps runs) {
        for (long i = 0; truth(loop.condition(), environment); i++) {
            Environment inner = new Environment(environment, loop.layout());
            if (!loop.keeps()) {
                inner.iteration(new BlockSession.Iteration(steps, i));
            }
            inner.memory(StepMemory.of(loop.exposed()));
            Map<String, Object> before = tensors(loop.variables(), environment);
            runs.run(inner);
            before.forEach((name, value) -> {
                inner.setHere(name, value);
                if (value instanceof Tensor copy) {
                    inner.gave(name, copy, true);
                }
            });
            if (loop.keeps()) {
                steps.add(inner, tensors(loop.inPlace(), environment));
            }
        }
    }

    private Loop loop(OpDesc op) {
        synchronized (facts) {
            Loop known = facts.loops.get(op);
            if (known == null) {
                known = newLoop(op);
                facts.loops.put(op, known);
            }
            return known;
        }
    }

    private Loop newLoop(OpDesc op) {
        Block block = block(program, op);
        boolean keeps = !Instructions.attrs(op).getBool("is_test") && keepsSteps(op);
        Set<String> written = written(block);
        List<String> variables = keeps
                ? op.input("X").stream().distinct().filter(written::contains).toList()
                : List.of();
        return new Loop(block, layout(op), op.input("Condition").getFirst(), keeps, variables,
                variables.stream().filter(inPlace(block)::contains).toList(),
                keeps ? exposed(op, "StepScopes") : null);
    }

    private static Map<String, Object> tensors(List<String> names, Environment environment) {
        if (names.isEmpty()) {
            return Map.of();
        }
        Map<String, Object> copies = new HashMap<>();
        for (String name : names) {
            if (environment.find(name) instanceof Tensor tensor) {
                copies.put(name, VariableValues.copy(tensor));
            }
        }
        return copies;
    }

    private static Set<String> written(Block block) {
        Set<String> written = new HashSet<>();
        block.ops().forEach(op -> written.addAll(op.outputNames()));
        return written;
    }

    private static Set<String> inPlace(Block block) {
        Set<String> names = new HashSet<>();
        block.ops().forEach(
                op -> op.outputNames().stream().filter(name -> op.inputNames().contains(name)).forEach(names::add));
        return names;
    }

    void loopGradient(OpDesc op, Environment environment) {
        Gradient gradient = gradient(op);
        try (GradientSums sums = new GradientSums(); BlockRunner.Steps runs = blocks.begin(gradient.block())) {
            loopGradient(op, gradient, environment, sums, runs);
        }
    }

    private static void loopGradient(OpDesc op, Gradient gradient, Environment environment, GradientSums sums,
            BlockRunner.Steps runs) {
        Set<String> written = gradient.written();
        List<String> inputs = op.input("X");
        List<String> gradients = op.output("X@GRAD");
        Map<String, Object> carried = incoming(op, carriedNames(op), environment);
        List<String> summed = wanted(inputs, gradients).stream().filter(name -> !carried.containsKey(name)).toList();
        Map<String, Object> countedBack = new HashMap<>();
        Set<String> claimed = claimed(gradient, carried.keySet(), summed, Set.of());
        List<Tensor> used = List.of();
        for (Environment.Step step : steps(op, "StepScopes", environment).steps().reversed()) {
            Environment inner = step.environment();
            StepMemory memory = inner.memory();
            if (memory != null) {
                memory.requireOpen();
            }
            // A counter that the block counts back must begin as the step has left it.
            Map<String, Object> after = step.after();
            if (!after.isEmpty()) {
                after = new HashMap<>(after);
                after.keySet().retainAll(written);
                if (!claimed.containsAll(after.keySet())) {
                    claimed = claimed(gradient, carried.keySet(), summed, after.keySet());
                }
            }
            runGradient(runs, inner, claimed, carried, summed, after);
            after.keySet().forEach(name -> countedBack.put(name, Objects.requireNonNull(inner.here(name))));
            summed.forEach(name -> sums.add(name, inner.here(name)));
            carried.replaceAll((name, value) -> carriedOn(op, name, value, written, inner));
            if (memory != null) {
                List<Object> results = sums.with(carried.values());
                used = memory.free(used, tensor -> StepMemory.isIn(results, tensor));
                inner.removeClosed();
            }
        }
        // Gradients of what came before the loop, such as the first element of a list, are at the counter's first
        // value.
        countedBack.forEach((name, value) -> environment.set(name, VariableValues.copy(value)));
        for (int i = 0; i < gradients.size(); i++) {
            if (!gradients.get(i).equals(GradientRule.EMPTY)) {
                String name = GradientRule.gradient(inputs.get(i));
                Object value = carried.containsKey(name) ? carried.get(name) : sums.get(name);
                environment.set(gradients.get(i),
                        value == null ? VariableValues.zerosLike(environment.get(inputs.get(i))) : value);
            }
        }
    }

    private static List<String> carriedNames(OpDesc op) {
        Attrs attrs = Instructions.attrs(op);
        return attrs.has("original_output_grad") ? attrs.getTexts("original_output_grad") : op.input("Out@GRAD");
    }

    /**
     * The gradient of a loop's variable before a step. It is zero if the step overwrites the variable without reading
     * it.
     */
    private static Object carriedOn(OpDesc op, String name, Object after, Set<String> written, Environment inner) {
        Object before = written.contains(name) || after instanceof TensorList ? inner.here(name) : null;
        if (before != null) {
            return before;
        }
        return op.input("Out").contains(Backward.forward(name)) ? VariableValues.zerosLike(after) : after;
    }

    void selectInput(OpDesc op, Environment environment) {
        String chosen = choice(op, op.input("X"), environment);
        String to = op.output("Out").getFirst();
        // The gradient of a branch's result that has none is zero.
        environment.set(to, chosen.equals(GradientRule.EMPTY)
                ? VariableValues.zerosLike(environment.get(Backward.forward(to)))
                : VariableValues.copy(environment.get(chosen)));
    }

    void selectOutput(OpDesc op, Environment environment) {
        String chosen = choice(op, op.output("Out"), environment);
        if (!chosen.equals(GradientRule.EMPTY)) {
            environment.set(chosen, VariableValues.copy(environment.get(op.input("X").getFirst())));
        }
    }

    private static String choice(OpDesc op, List<String> names, Environment environment) {
        Tensor mask = environment.tensor(op.input("Mask").getFirst());
        if (mask.shape().size() != 1) {
            throw new IllegalArgumentException("The mask must be one element, but is " + mask.spec());
        }
        long choice = mask.toLongArray()[0];
        if (choice < 0 || choice >= names.size()) {
            throw new IllegalArgumentException(
                    "The mask must be from 0 to " + (names.size() - 1) + ", but is " + choice);
        }
        return names.get((int) choice);
    }
}
