package io.seriatim.graph.ops.optimizer;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Gather;
import io.seriatim.tensor.computation.GatherGrad;
import io.seriatim.tensor.computation.Where;
import io.seriatim.tensor.computation.network.RowUpdate;
import io.seriatim.tensor.computation.network.Update;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The steps of an optimizer's operation. It changes variables in place if they have the type of the computation;
 * otherwise (16-bit parameters, powers of another type) it changes a copy and writes it back at the end. A step that
 * may be skipped gets a flag if it is one computation; otherwise it works on copies that are not written back.
 */
final class OptimizerStep {
    private final Lowering l;
    private final int index;
    private final DType dtype;
    private final List<Runnable> writes = new ArrayList<>();
    private final Operand param;
    /** Says whether the step is skipped; null if it never is. */
    private final @Nullable Operand skip;
    private final boolean isOneComputation;

    OptimizerStep(Lowering l) {
        this(l, 0, true);
    }

    /** For operations that step several parameters: the one at a place of each slot. */
    OptimizerStep(Lowering l, int index) {
        this(l, index, true);
    }

    /** Unless it is one computation, the step's computations change parameter and states one after the other. */
    OptimizerStep(Lowering l, boolean isOneComputation) {
        this(l, 0, isOneComputation);
    }

    private OptimizerStep(Lowering l, int index, boolean isOneComputation) {
        this.l = l;
        this.index = index;
        this.isOneComputation = isOneComputation;
        this.skip = l.optional("SkipUpdate");
        boolean master = l.count("MasterParam") > index;
        DType own = l.in(master ? "MasterParam" : "Param", index).dtype();
        this.dtype = own == DType.FLOAT64 ? DType.FLOAT64 : DType.FLOAT32;
        this.param = master ? state("MasterParam", "MasterParamOut") : state("Param", "ParamOut");
        if (master) {
            Operand low = l.mutable("Param", "ParamOut", index);
            writes.add(() -> write(param, low));
        }
    }

    /** The parameter, to be changed; float32 for 16-bit types. */
    Operand param() {
        return param;
    }

    DType dtype() {
        return dtype;
    }

    /** The new value of an input, to be changed, in the type of the computation. */
    Operand state(String input, String output) {
        Operand variable = l.mutable(input, output, index);
        if (variable.dtype() == dtype && (skip == null || isOneComputation)) {
            return variable;
        }
        Operand work = l.run(new Copy(dtype), variable);
        writes.add(() -> write(work, variable));
        return work;
    }

    /** The new value of a variable, unless the step is skipped. */
    private void write(Operand value, Operand variable) {
        if (skip == null) {
            l.into(new Copy(variable.dtype()), List.of(value), List.of(variable));
        } else {
            Operand chosen = l.run(new Where(), skip, variable, l.cast(value, variable.dtype()));
            l.into(Copy.PLAIN, List.of(chosen), List.of(variable));
        }
    }

    /** An input that stays as it is, in memory that a step may change. */
    Operand scratch(String input) {
        return l.run(new Copy(dtype), l.in(input));
    }

    /** An output that stays what the input is, as memory that a step may change. */
    Operand kept(String input, String output) {
        return l.run(new Copy(dtype), l.mutable(input, output, index));
    }

    Operand rate() {
        return l.cast(l.in("LearningRate", index), dtype);
    }

    /** The gradient with a number for each element of the parameter; rows that it does not hold are zero. */
    Operand gradient() {
        Operand values = l.cast(l.in("Grad", index), dtype);
        if (!hasRows()) {
            return values;
        }
        List<Long> dims = Arrays.stream(param.shape().dims()).boxed().toList();
        return l.run(new GatherGrad(Gather.of(0), dims), values, l.rowIndexes("Grad", index));
    }

    private boolean hasRows() {
        return l.type("Grad", index).kind() == ArgType.Kind.ROWS;
    }

    /** Changes all elements. */
    void update(Update update, Operand... states) {
        updateBy(gradient(), rate(), update, states);
    }

    /** Changes all elements, with a gradient and a rate that are not those of the variables. */
    void updateBy(Operand gradient, Operand rate, Update update, Operand... states) {
        List<Operand> operands = new ArrayList<>(List.of(param, gradient, rate));
        operands.addAll(List.of(states));
        if (skip != null && isOneComputation) {
            operands.add(skip);
        }
        l.into(update, operands, List.of());
        finish();
    }

    /** Changes only the rows that the gradient holds; all elements if the gradient is dense. */
    void updateRows(Update update, Operand... states) {
        if (!hasRows()) {
            update(update, states);
            return;
        }
        List<Operand> operands = new ArrayList<>(List.of(param, l.cast(l.in("Grad", index), dtype), rate()));
        operands.addAll(List.of(states));
        operands.add(l.rowIndexes("Grad", index));
        l.into(new RowUpdate(update), operands, List.of());
        finish();
    }

    /** Writes back what was changed in copies. */
    void finish() {
        writes.forEach(Runnable::run);
    }
}
