package io.seriatim.onnx.schema;

import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.op.WorkingMemory;
import io.seriatim.graph.program.Attribute;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Layout;
import io.seriatim.tensor.Shape;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.TensorSpec;
import io.seriatim.tensor.computation.Fill;
import io.seriatim.tensor.computation.Triangle;
import java.math.BigInteger;
import java.util.List;
import java.util.Objects;

/** Ranges, diagonals, triangles, and windows of signals. */
final class CreationSchemas {
    private static final long MOST = Integer.MAX_VALUE - 8L;

    private CreationSchemas() {
    }

    static void register(Operations registry) {
        Operation.define("onnx_range").in("Start", "Limit", "Delta").out("Out").values("Start", "Limit", "Delta")
                .infer(CreationSchemas::inferRange).lower(CreationSchemas::range).shapeArithmetic().register(registry);
        Operation.define("onnx_eye_like").in("X").out("Out").attr("k", 0L).required("dtype", Attribute.Int.class)
                .shapesOnly("X").infer(inference -> {
                    inference.require(inference.dims("X").length == 2, "X must be a matrix, but has %d dimensions",
                            inference.dims("X").length);
                    inference.set("Out", inference.attrs().getDType("dtype"), inference.dims("X"));
                }).lower(CreationSchemas::diagonal).register(registry);
        Operation.define("onnx_triangle").in("X", "K").out("Out").attr("upper", true).values("K").infer(inference -> {
            inference.require(inference.dims("X").length >= 2, "X needs at least two dimensions, but has %d",
                    inference.dims("X").length);
            one(inference, "K");
            inference.same("X", "Out");
        }).lower(l -> {
            long k = Objects.requireNonNull(l.values("K"))[0];
            l.out("Out", l.run(new Triangle(l.attrs().getBool("upper"), Math.clamp(k, -MOST, MOST)), l.in("X")));
        }).grad("onnx_triangle_grad(X, K, Out@GRAD) -> X@GRAD").register(registry);
        Operation.define("onnx_window").in("Size").out("Out").required("function", Attribute.Text.class)
                .attr("periodic", true).attr("dtype", 5).values("Size")
                .refuse((_, attrs) -> List.of("hann", "hamming", "blackman").contains(attrs.getText("function"))
                        ? null
                        : "the attribute function must be hann, hamming or blackman, but is '"
                                + attrs.getText("function") + "'")
                .infer(inference -> {
                    one(inference, "Size");
                    long[] size = inference.values("Size");
                    inference.require(size == null || (size[0] >= 0 && size[0] <= MOST),
                            "Size must be from 0 to %d, but is %d", MOST, size == null ? 0 : size[0]);
                    inference.set("Out", inference.attrs().getDType("dtype"), size == null ? -1 : size[0]);
                }).lower(CreationSchemas::window).register(registry);
    }

    private static void one(Inference inference, String slot) {
        long size = Inference.size(inference.dims(slot));
        inference.require(size == 1 || size < 0, "%s must be one number, but has %d", slot, size);
    }

    private static void inferRange(Inference inference) {
        DType dtype = inference.dtype("Start");
        for (String slot : List.of("Start", "Limit", "Delta")) {
            one(inference, slot);
            inference.require(inference.dtype(slot) == dtype && dtype != DType.BOOL && !dtype.isComplex(),
                    "Start, Limit and Delta must be numbers of one type, but %s is %s and Start %s", slot,
                    inference.dtype(slot), dtype);
        }
        double[] start = inference.numbers("Start");
        double[] limit = inference.numbers("Limit");
        double[] delta = inference.numbers("Delta");
        if (start == null || limit == null || delta == null) {
            inference.set("Out", dtype, -1);
            return;
        }
        inference.require(delta[0] != 0, "Delta must not be 0");
        double count = dtype.isWhole()
                ? count(whole(inference, "Start"), whole(inference, "Limit"), whole(inference, "Delta"))
                : Math.max(0, Math.ceil(difference(dtype, limit[0], start[0]) / delta[0]));
        inference.require(count <= MOST, "there are too many numbers from %s to %s in steps of %s", start[0],
                limit[0], delta[0]);
        inference.set("Out", dtype, (long) count);
    }

    private static double difference(DType dtype, double limit, double start) {
        return dtype == DType.FLOAT64 ? limit - start : (float) limit - (float) start;
    }

    private static BigInteger whole(Inference inference, String slot) {
        long value = Objects.requireNonNull(inference.values(slot))[0];
        return inference.dtype(slot) == DType.UINT64
                ? new BigInteger(Long.toUnsignedString(value))
                : BigInteger.valueOf(value);
    }

    private static double count(BigInteger start, BigInteger limit, BigInteger delta) {
        BigInteger distance = limit.subtract(start);
        if (distance.signum() * delta.signum() <= 0) {
            return 0;
        }
        return distance.abs().add(delta.abs()).subtract(BigInteger.ONE).divide(delta.abs()).doubleValue();
    }

    private static void range(Lowering l) {
        if (!l.wants("Out")) {
            return;
        }
        TensorSpec out = l.outType("Out", 0).spec();
        int count = l.arrayLength("its numbers", out.shape().size());
        if (out.dtype().isWhole()) {
            long start = Objects.requireNonNull(l.values("Start"))[0];
            long delta = Objects.requireNonNull(l.values("Delta"))[0];
            long[] values = new long[count];
            for (int i = 0; i < count; i++) {
                values[i] = start + i * delta;
            }
            l.out("Out", l.constant(Tensor.of(out.dtype(), values, count)));
            return;
        }
        double start = Objects.requireNonNull(l.numbers("Start"))[0];
        double delta = Objects.requireNonNull(l.numbers("Delta"))[0];
        double[] values = new double[count];
        for (int i = 0; i < count; i++) {
            values[i] = start + i * delta;
        }
        l.out("Out", l.constant(Tensor.of(out.dtype(), values, count)));
    }

    private static void diagonal(Lowering l) {
        if (!l.wants("Out")) {
            return;
        }
        Operand out = l.output("Out");
        l.into(new Fill(0), List.of(), List.of(out));
        long rows = out.dim(0);
        long columns = out.dim(1);
        long k = Math.clamp(l.attrs().getLong("k"), -rows, columns);
        long length = Math.min(rows - Math.max(0, -k), columns - Math.max(0, k));
        if (length > 0) {
            long first = Math.max(0, k) + Math.max(0, -k) * columns;
            TensorSpec diagonal = new TensorSpec(out.dtype(), Shape.of(length), Layout.strided(columns + 1));
            l.into(new Fill(1), List.of(),
                    List.of(new Operand(out.source(), out.offset() + first * out.dtype().bytes(), diagonal)));
        }
    }

    private static void window(Lowering l) {
        int size = Math.toIntExact(Objects.requireNonNull(l.values("Size"))[0]);
        double period = Math.max(1, l.attrs().getBool("periodic") ? size : size - 1);
        double[] values = new double[WorkingMemory.length(size)];
        for (int i = 0; i < size; i++) {
            double angle = 2 * Math.PI * i / period;
            values[i] = switch (l.attrs().getText("function")) {
                case "hann" -> 0.5 - 0.5 * Math.cos(angle);
                case "hamming" -> 25.0 / 46 - 21.0 / 46 * Math.cos(angle);
                default -> 0.42 - 0.5 * Math.cos(angle) + 0.08 * Math.cos(2 * angle);
            };
        }
        l.out("Out", l.constant(Tensor.of(l.outType("Out", 0).dtype(), values, size)));
    }
}
