package io.seriatim.graph;

import io.seriatim.graph.interpret.Interpreter;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.kernel.Kernels;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

/** Runs operations on tensors; variables that they do not make are fed. */
public final class OneRun {
    private OneRun() {
    }

    public static Map<String, Tensor> of(Map<String, Tensor> feeds, OpDesc... ops) {
        Program program = new Program();
        for (OpDesc op : ops) {
            program.global().add(op);
        }
        List<String> made = Arrays.stream(ops).flatMap(op -> op.outputNames().stream()).toList();
        return Interpreter.of(Kernels.system()).run(program, feeds, made);
    }

    public static Tensor get(Map<String, Tensor> results, String name) {
        return Objects.requireNonNull(results.get(name), name);
    }

    public static double[] values(Map<String, Tensor> results, String name) {
        return get(results, name).toDoubleArray();
    }

    public static Tensor random(SplittableRandom random, DType dtype, long... dims) {
        return Tensor.of(dtype, random.doubles(Shape.of(dims).size(), -1, 1).toArray(), dims);
    }
}
