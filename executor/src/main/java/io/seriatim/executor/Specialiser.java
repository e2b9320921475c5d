package io.seriatim.executor;

import io.seriatim.graph.OpDesc;
import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowered;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.PaddleRandom;
import io.seriatim.graph.op.Step;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.kernel.Kernel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Makes a plan's kernels and memory for given shapes. No kernel runs. */
final class Specialiser {
    private final Accesses accesses;
    private final Lifetimes lifetimes;
    private final PreparedKernels kernels;
    private final Arena arena;
    private final @Nullable PaddleRandom random;
    private final @Nullable ArgType[] types;
    private final @Nullable TensorSpec[] specs;
    private final long[] offsets;
    private final long[][] temporaries;

    Specialiser(Accesses accesses, Lifetimes lifetimes, PreparedKernels kernels, boolean reuses, @Nullable PaddleRandom random) {
        this.accesses = accesses;
        this.lifetimes = lifetimes;
        this.kernels = kernels;
        this.arena = new Arena(reuses);
        this.random = random;
        int n = accesses.values().size();
        this.types = new ArgType[n];
        this.specs = new TensorSpec[n];
        this.offsets = new long[n];
        this.temporaries = new long[accesses.operations().size()][];
        Arrays.fill(offsets, -1);
    }

    Specialisation specialise(Map<String, Tensor> feeds, Scope scope) {
        for (int i = 0; i < types.length; i++) {
            Accesses.Value value = accesses.values().get(i);
            Object there = value.origin() == Accesses.Origin.FED ? feeds.get(value.name()) : scope.value(value.name());
            if (value.origin() != Accesses.Origin.COMPUTED || value.persistable()) {
                types[i] = there instanceof Tensor tensor ? ArgType.dense(tensor.dtype(), tensor.shape().dims()) : null;
                specs[i] = there instanceof Tensor tensor ? tensor.spec().rowMajor() : null;
            }
        }
        List<Specialisation.Instruction> instructions = new ArrayList<>();
        for (int i = 0; i < accesses.operations().size(); i++) {
            Accesses.Access access = accesses.operations().get(i);
            Specialisation.Instruction instruction = compile(i, access);
            if (instruction == null) {
                access.writes().values().forEach(value -> types[value] = null);
                instruction = new Specialisation.Interpreted(access);
                temporaries[i] = new long[0];
            }
            instructions.add(instruction);
        }
        return new Specialisation(instructions, specs, offsets, temporaries, arena.bytes());
    }

    /** The kernels of an operation; null if something about it is known at run time only. */
    private Specialisation.@Nullable Instruction compile(int index, Accesses.Access access) {
        OpDesc op = access.op();
        Operation schema = Operations.system().get(op.type());
        boolean dependsOnValues = schema.values().stream().anyMatch(slot -> !op.input(slot).isEmpty());
        if (!schema.isLowered() || dependsOnValues || access.reads().values().stream().anyMatch(value -> types[value] == null)) {
            return null;
        }
        Inference.Source source = new Known(access, types);
        Map<String, List<@Nullable ArgType>> results = schema.infer(op, source);
        if (results.values().stream().flatMap(List::stream).anyMatch(type -> type != null && type.kind() != ArgType.Kind.DENSE)) {
            return null;
        }
        Lowered lowered = schema.lower(new Lowering(op, schema, source, results, random));
        Map<Operand.Source.Output, Integer> copies = outputs(index, access, results, lowered);
        List<@Nullable Kernel> prepared = new ArrayList<>();
        for (Step step : lowered.steps()) {
            prepared.add(step.work() instanceof Step.Work.Compute(var computation)
                    ? kernels.get(computation, Stream.concat(step.inputs().stream(), step.outputs().stream())
                            .map(operand -> operand == null ? null : operand.spec()).toArray(TensorSpec[]::new))
                    : null);
        }
        return new Specialisation.Compiled(access, lowered, prepared, copies);
    }

    /** Notes what the outputs are and gives them memory. Returns those that are computed beside their old value. */
    private Map<Operand.Source.Output, Integer> outputs(int index, Accesses.Access access, Map<String, List<@Nullable ArgType>> results,
            Lowered lowered) {
        Map<Operand.Source.Output, Integer> copies = new HashMap<>();
        List<Long> places = new ArrayList<>();
        results.forEach((slot, list) -> {
            for (int i = 0; i < list.size(); i++) {
                ArgType type = list.get(i);
                String name = access.op().output(slot).get(i);
                if (type != null && !name.equals(GradientRule.EMPTY)) {
                    int value = access.writes().getOrDefault(name, -1);
                    types[value] = type;
                    boolean fresh = specs[value] == null;
                    specs[value] = type.spec();
                    if (fresh && accesses.values().get(value).origin() == Accesses.Origin.COMPUTED
                            && !accesses.values().get(value).persistable()) {
                        offsets[value] = arena.place(type.spec().bytes(), index, lifetimes.last()[value]);
                    }
                    Operand.Source.Output output = new Operand.Source.Output(slot, i);
                    if (access.mutates(name) && !lowered.shared().containsKey(output)) {
                        copies.put(output, lowered.temporaries().size() + copies.size());
                    }
                }
            }
        });
        for (TensorSpec spec : lowered.temporaries()) {
            places.add(arena.place(spec.bytes(), index, index));
        }
        long[] beside = new long[copies.size()];
        copies.forEach((output, number) -> {
            TensorSpec spec = specs[access.writes().getOrDefault(access.op().output(output.slot()).get(output.index()), -1)];
            beside[number - lowered.temporaries().size()] = arena.place(spec == null ? 0 : spec.bytes(), index, index);
        });
        Arrays.stream(beside).forEach(places::add);
        temporaries[index] = places.stream().mapToLong(Long::longValue).toArray();
        return copies;
    }

    /** What is known of an operation's inputs. */
    private record Known(Accesses.Access access, @Nullable ArgType[] types) implements Inference.Source {
        @Override
        public @Nullable ArgType type(String slot, int index) {
            Integer value = access.reads().get(access.op().input(slot).get(index));
            return value == null ? null : types[value];
        }

        @Override
        public long @Nullable [] values(String slot, int index) {
            return null;
        }
    }

}
