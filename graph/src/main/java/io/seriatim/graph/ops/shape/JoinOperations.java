package io.seriatim.graph.ops.shape;

import io.seriatim.graph.op.ArgType;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.ops.common.Dims;
import io.seriatim.tensor.computation.Copy;
import java.util.Arrays;
import java.util.List;

/** Tensors one after the other, beside each other, and taken apart. */
public final class JoinOperations {
    private JoinOperations() {
    }

    public static void register(Operations registry) {
        concat(registry);
        split(registry);
        stack(registry);
        unstack(registry);
        meshgrid(registry);
        unbind(registry);
    }

    private static void concat(Operations registry) {
        String signature = "concat_grad(AxisTensor, Out@GRAD, X) -> X@GRAD";
        Operation.Builder concat = Operation.define("concat").in("X*", "AxisTensor?").out("Out").attr("axis", 0)
                .values("AxisTensor")
                .shapeArithmetic().infer(JoinOperations::joined).lower(JoinOperations::join).grad(signature);
        concat.gradOperation(signature, null).values("AxisTensor").shapesOnly("X").lower(JoinOperations::cutGradient)
                .grad("concat(AxisTensor, X=X@GRAD@GRAD) -> Out=Out@GRAD@GRAD").register(registry);
        concat.register(registry);
    }

    private static void split(Operations registry) {
        Operation.define("split").in("X", "AxisTensor?", "SectionsTensorList*?").out("Out*")
                .attr("sections", new int[0]).attr("num", 0)
                .attr("axis", 0).values("AxisTensor", "SectionsTensorList").shapeArithmetic()
                .infer(JoinOperations::parted)
                .lower(JoinOperations::part)
                .grad("concat(AxisTensor, X=Out@GRAD) -> Out=X@GRAD").register(registry);
    }

    private static void stack(Operations registry) {
        String signature = "stack_grad(X, Y@GRAD) -> X@GRAD";
        Operation.Builder stack = Operation.define("stack").in("X*").out("Y").attr("axis", 0)
                .shapeArithmetic().infer(JoinOperations::stacked)
                .lower(l -> stack(l, "X", "Y")).grad(signature);
        stack.gradOperation(signature, null).shapesOnly("X").lower(l -> unstack(l, "Y@GRAD", "X@GRAD"))
                .register(registry);
        stack.register(registry);
    }

    private static void unstack(Operations registry) {
        Operation.define("unstack").in("X").out("Y*").attr("axis", 0).attr("num", 0).shapeArithmetic()
                .infer(JoinOperations::unstacked)
                .lower(l -> unstack(l, "X", "Y"))
                .grad("unstack_grad(Y@GRAD) -> X@GRAD", inference -> stacked(inference, "Y@GRAD", "X@GRAD"),
                        l -> stack(l, "Y@GRAD", "X@GRAD"))
                .register(registry);
    }

    private static void meshgrid(Operations registry) {
        String signature = "meshgrid_grad(X, outputs@GRAD=Out@GRAD) -> X@GRAD";
        Operation.Builder meshgrid = Operation.define("meshgrid").in("X*").out("Out*").infer(JoinOperations::grid)
                .lower(JoinOperations::grid).grad(signature);
        meshgrid.gradOperation(signature, null).shapesOnly("X").lower(JoinOperations::gridGradient).register(registry);
        meshgrid.register(registry);
    }

    private static void joined(Inference inference) {
        long[] dims = inference.dims("X");
        inference.require(dims.length > 0,
                "tensors without dimensions cannot be joined: stack them, or give each a dimension");
        long[] axes = inference.has("AxisTensor") ? inference.values("AxisTensor") : inference.attrs().getLongs("axis");
        if (axes == null) {
            inference.set("Out", inference.dtype("X"), Dims.unknown(dims.length));
            return;
        }
        int axis = axis(inference, axes);
        for (int i = 1; i < inference.count("X"); i++) {
            ArgType next = inference.in("X", i);
            inference.require(next.dtype() == inference.dtype("X"), "all parts must be %s, but part %d is %s",
                    inference.dtype("X"), i,
                    next.dtype());
            long along = Dims.plus(dims[axis], next.dims().length > axis ? next.dims()[axis] : 0);
            dims = alike(inference, dims, next.dims(), axis, i);
            dims[axis] = along;
        }
        inference.set("Out", inference.dtype("X"), dims);
    }

    private static int axis(Inference inference, long[] axes) {
        inference.require(axes.length == 1, "AxisTensor must have one element, but has %d", axes.length);
        return inference.axis("X", axes[0]);
    }

    /** The dimensions of both except for one axis; dimensions unknown in one are taken from the other. */
    private static long[] alike(Inference inference, long[] dims, long[] part, int except, int index) {
        inference.require(part.length == dims.length, "all parts must have %d dimensions, but part %d has %d",
                dims.length, index,
                part.length);
        long[] known = dims.clone();
        for (int i = 0; i < dims.length; i++) {
            inference.require(i == except || dims[i] < 0 || part[i] < 0 || dims[i] == part[i],
                    "part %d must have length %d in dimension %d, but has %d", index, dims[i], i, part[i]);
            known[i] = Math.max(dims[i], part[i]);
        }
        return known;
    }

    private static int axis(Lowering l, Operand of) {
        long[] given = l.values("AxisTensor");
        return of.shape().axis(given == null ? l.attrs().getInt("axis") : Math.toIntExact(given[0]));
    }

    private static void join(Lowering l) {
        if (!l.wants("Out")) {
            return;
        }
        Operand whole = l.output("Out");
        int axis = axis(l, whole);
        long from = 0;
        for (Operand part : l.ins("X")) {
            l.into(Copy.PLAIN, List.of(part), List.of(whole.slice(axis, from, from + part.dim(axis))));
            from += part.dim(axis);
        }
    }

    private static void cutGradient(Lowering l) {
        Operand whole = l.in("Out@GRAD");
        int axis = axis(l, whole);
        long from = 0;
        for (int i = 0; i < l.count("X"); i++) {
            long length = l.type("X", i).dims()[axis];
            if (l.wants("X@GRAD", i)) {
                l.out("X@GRAD", i, whole.slice(axis, from, from + length));
            }
            from += length;
        }
    }

    private static void parted(Inference inference) {
        long[] dims = inference.dims("X");
        int count = inference.outputs("Out");
        long[] axes = inference.has("AxisTensor") ? inference.values("AxisTensor") : inference.attrs().getLongs("axis");
        boolean listed = inference.has("SectionsTensorList");
        if (axes == null || (listed && inference.values("SectionsTensorList") == null)) {
            for (int i = 0; i < count; i++) {
                inference.set("Out", i, ArgType.dense(inference.dtype("X"), Dims.unknown(dims.length)));
            }
            return;
        }
        inference.require(dims.length > 0, "a tensor without dimensions cannot be split");
        int axis = axis(inference, axes);
        long[] lengths = listed ? inference.listed("SectionsTensorList") : inference.attrs().getLongs("sections");
        long num = inference.attrs().getLong("num");
        lengths = num > 0 ? equal(inference, dims[axis], num) : sections(inference, dims[axis], lengths);
        inference.require(lengths.length == count, "X is split into %d parts, but there are %d outputs", lengths.length,
                count);
        for (int i = 0; i < count; i++) {
            inference.set("Out", i, ArgType.dense(inference.dtype("X"), Dims.with(dims, axis, lengths[i])));
        }
    }

    private static long[] equal(Inference inference, long length, long num) {
        inference.require(num == inference.outputs("Out"), "X is split into %d parts, but there are %d outputs", num,
                inference.outputs("Out"));
        inference.require(length < 0 || length % num == 0, "the length %d cannot be split into %d equal parts", length,
                num);
        long[] lengths = new long[WorkingMemory.length(num)];
        Arrays.fill(lengths, length < 0 ? -1 : length / num);
        return lengths;
    }

    private static long[] sections(Inference inference, long length, long[] sections) {
        long[] lengths = sections.clone();
        long sum = 0;
        int open = -1;
        for (int i = 0; i < sections.length; i++) {
            inference.require(sections[i] >= -1 && (sections[i] != -1 || open < 0),
                    "sections %s must hold lengths, and -1 at most once",
                    Numbers.text(sections));
            open = sections[i] == -1 ? i : open;
            sum = Math.addExact(sum, Math.max(0, sections[i]));
        }
        if (length < 0) {
            Arrays.fill(lengths, -1);
        } else {
            inference.require(open < 0 ? sum == length : sum <= length, "sections %s do not add up to the length %d",
                    Numbers.text(sections),
                    length);
            if (open >= 0) {
                lengths[open] = length - sum;
            }
        }
        return lengths;
    }

    private static void part(Lowering l) {
        Operand whole = l.in("X");
        int axis = axis(l, whole);
        long from = 0;
        for (int i = 0; i < l.outputs("Out"); i++) {
            long length = l.outType("Out", i).dims()[axis];
            l.out("Out", i, whole.slice(axis, from, from + length));
            from += length;
        }
    }

    private static void stacked(Inference inference) {
        stacked(inference, "X", "Y");
    }

    private static void stacked(Inference inference, String parts, String whole) {
        long[] dims = inference.dims(parts);
        for (int i = 1; i < inference.count(parts); i++) {
            ArgType next = inference.in(parts, i);
            inference.require(next.dtype() == inference.dtype(parts), "all parts must be %s, but part %d is %s",
                    inference.dtype(parts), i,
                    next.dtype());
            dims = alike(inference, dims, next.dims(), -1, i);
        }
        long axis = inference.attrs().getLong("axis");
        inference.require(axis >= -dims.length - 1 && axis <= dims.length,
                "the new axis must be from %d to %d, but is %d",
                -dims.length - 1,
                dims.length, axis);
        int at = (int) (axis < 0 ? axis + dims.length + 1 : axis);
        inference.set(whole, inference.dtype(parts), Dims.inserted(dims, at, inference.count(parts)));
    }

    private static void stack(Lowering l, String parts, String whole) {
        if (!l.wants(whole)) {
            return;
        }
        Operand all = l.output(whole);
        int axis = all.shape().axis(l.attrs().getInt("axis"));
        for (int i = 0; i < l.count(parts); i++) {
            l.into(Copy.PLAIN, List.of(l.in(parts, i)), List.of(all.select(axis, i)));
        }
    }

    private static void unstacked(Inference inference) {
        long[] dims = inference.dims("X");
        inference.require(dims.length > 0, "a tensor without dimensions cannot be unstacked");
        int axis = inference.axis("X", inference.attrs().getLong("axis"));
        long num = inference.attrs().getLong("num");
        int count = inference.outputs("Y");
        inference.require(num == count || num == 0, "num is %d, but there are %d outputs", num, count);
        inference.require(dims[axis] < 0 || dims[axis] == count,
                "axis %d of length %d cannot be unstacked into %d outputs", axis,
                dims[axis],
                count);
        boolean[] gone = new boolean[dims.length];
        gone[axis] = true;
        for (int i = 0; i < count; i++) {
            inference.set("Y", i, ArgType.dense(inference.dtype("X"), Dims.without(dims, gone)));
        }
    }

    private static void unstack(Lowering l, String whole, String parts) {
        Operand all = l.in(whole);
        int axis = all.shape().axis(l.attrs().getInt("axis"));
        for (int i = 0; i < l.outputs(parts); i++) {
            if (l.wants(parts, i)) {
                l.out(parts, i, all.select(axis, i));
            }
        }
    }

    private static void grid(Inference inference) {
        int rank = inference.count("X");
        inference.require(rank > 0 && rank == inference.outputs("Out"),
                "there must be as many outputs as inputs, but there are %d and %d",
                inference.outputs("Out"), rank);
        long[] dims = new long[rank];
        for (int i = 0; i < rank; i++) {
            long[] line = inference.in("X", i).dims();
            inference.require(line.length <= 1, "each input must have one dimension, but input %d has %d", i,
                    line.length);
            dims[i] = line.length == 0 ? 1 : line[0];
        }
        for (int i = 0; i < rank; i++) {
            inference.set("Out", i, ArgType.dense(inference.in("X", i).dtype(), dims));
        }
    }

    private static void grid(Lowering l) {
        for (int i = 0; i < l.count("X"); i++) {
            if (l.wants("Out", i)) {
                Operand line = l.in("X", i);
                long[] dims = Dims.with(Dims.leading(new long[0], l.count("X")), i, line.shape().size());
                l.into(Copy.PLAIN, List.of(line.reshape(dims)), List.of(l.output("Out", i)));
            }
        }
    }

    private static void gridGradient(Lowering l) {
        for (int i = 0; i < l.count("X"); i++) {
            if (l.wants("X@GRAD", i)) {
                Operand line = l.output("X@GRAD", i);
                long[] dims = Dims.with(Dims.leading(new long[0], l.count("X")), i, line.shape().size());
                l.out("X@GRAD", i, l.reshape(Dims.sumTo(l, l.in("outputs@GRAD", i), dims), line.shape().dims()));
            }
        }
    }

    private static void unbind(Operations registry) {
        Operation.define("unbind").in("X").out("Out*").attr("axis", 0).infer(inference -> {
            long[] dims = inference.dims("X");
            inference.require(dims.length > 0, "a tensor without dimensions cannot be taken apart");
            int axis = inference.axis("X", inference.attrs().getInt("axis"));
            int count = inference.outputs("Out");
            inference.require(dims[axis] < 0 || dims[axis] == count,
                    "axis %d of length %d cannot be taken apart into %d outputs", axis,
                    dims[axis], count);
            boolean[] gone = new boolean[dims.length];
            gone[axis] = true;
            for (int i = 0; i < count; i++) {
                inference.set("Out", i, ArgType.dense(inference.dtype("X"), Dims.without(dims, gone)));
            }
        }).lower(l -> {
            int axis = l.in("X").shape().axis(l.attrs().getInt("axis"));
            for (int i = 0; i < l.outputs("Out"); i++) {
                l.out("Out", i, l.in("X").select(axis, i));
            }
        }).grad("stack(X=Out@GRAD) -> Y=X@GRAD").register(registry);
    }
}
