package io.seriatim.graph.interpret;

import io.seriatim.graph.GoldenOperations;
import io.seriatim.graph.lod.LodProgram;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.GradientRule;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.Step;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The types of elements in which operations run: those in which a golden case, cast to the type, computes what it
 * computes in its own, within the precision of both.
 */
final class OperationProbe {
    private static final List<DType> FLOATS = List.of(DType.FLOAT32, DType.FLOAT64, DType.FLOAT16, DType.BFLOAT16);
    private static final List<DType> WHOLE = List.of(DType.INT64, DType.INT32);

    private final Map<String, Set<DType>> works = new TreeMap<>();
    /** Operations some of whose steps are Java functions. */
    private final Set<String> calls = new TreeSet<>();

    OperationProbe() {
        GoldenOperations.all().values().forEach(this::probe);
    }

    Set<DType> types(String type) {
        return works.getOrDefault(type, Set.of());
    }

    /** Whether some of an operation's steps run on the host only. */
    boolean isOfHost(String type) {
        return calls.contains(type);
    }

    private void probe(GoldenOperations golden) {
        DType own = golden.in().values().stream().map(Tensor::dtype)
                .filter(dtype -> dtype.isFloating() || dtype.isComplex()).findFirst()
                .orElse(golden.in().values().stream().map(Tensor::dtype).findFirst().orElse(DType.FLOAT32));
        if (own == DType.BOOL || own.isComplex() || golden.in().isEmpty()) {
            run(golden, own, own);
            return;
        }
        for (DType dtype : own.isFloating() ? FLOATS : WHOLE) {
            run(golden, own, dtype);
        }
    }

    private void run(GoldenOperations golden, DType own, DType dtype) {
        if (golden.program().global().ops().stream().allMatch(op -> types(op.type()).contains(dtype))) {
            return; // Earlier cases have shown it.
        }
        Map<String, Tensor> given = new TreeMap<>(golden.in());
        given.replaceAll((_, tensor) -> tensor.dtype() == own && own != dtype ? cast(tensor, dtype) : tensor);
        LodProgram lods = LodProgram.of(golden.program(), given.keySet(), golden.out().keySet());
        given.putAll(lods.values(golden.in()::get));
        Program program = lods.program();
        Environment environment = new Environment(null);
        environment.enter(program.global());
        given.forEach(environment::set);
        RunState state = new RunState(program, new OpRunner(Kernels.system()), environment, environment, given, 0, null,
                AllowedFiles.NONE);
        for (OpDesc op : program.global().ops()) {
            Operation schema = Operations.system().get(op.type());
            if (!schema.isLowered()) {
                return;
            }
            try {
                Inference.Source values = new OpRunner.Values(op, environment);
                Lowering lowering = new Lowering(op, schema, values, schema.infer(op, values), null);
                if (schema.lower(lowering).steps().stream().anyMatch(step -> step.work() instanceof Step.Work.Call)) {
                    calls.add(op.type());
                }
                state.runner().run(op, schema, environment, state, Tensor.of(new long[]{1, 0}, 2));
            } catch (IllegalArgumentException | IllegalStateException e) {
                return; // This type is not served, and what follows cannot be asked.
            }
            if (op.outputs().values().stream().flatMap(List::stream)
                    .allMatch(name -> close(golden, name, environment.find(name), dtype, schema))) {
                works.computeIfAbsent(op.type(), _ -> EnumSet.noneOf(DType.class)).add(dtype);
            }
        }
    }

    private static Tensor cast(Tensor tensor, DType dtype) {
        return Tensor.of(dtype, tensor.toDoubleArray(), tensor.shape().dims());
    }

    private static boolean close(GoldenOperations golden, String name, @Nullable Object value, DType dtype,
            Operation schema) {
        Tensor expected = golden.out().get(name);
        if (expected == null || name.equals(GradientRule.EMPTY) || schema.effects().contains(Effect.RANDOM)) {
            return true;
        }
        if (!(value instanceof Tensor actual) || !actual.shape().equals(expected.shape())) {
            return false;
        }
        double[] want = expected.toDoubleArray();
        double[] have = actual.toDoubleArray();
        double scale = Arrays.stream(want).filter(Double::isFinite).map(Math::abs).max().orElse(0);
        double tolerance = dtype == DType.FLOAT16 || dtype == DType.BFLOAT16 ? 0.1 : 1e-4;
        for (int i = 0; i < want.length; i++) {
            if (Double.isFinite(want[i]) && !(Math.abs(want[i] - have[i]) <= tolerance * Math.max(scale, 1e-3))) {
                return false;
            }
        }
        return true;
    }
}
