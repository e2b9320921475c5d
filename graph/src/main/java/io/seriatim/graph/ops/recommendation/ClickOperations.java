package io.seriatim.graph.ops.recommendation;

import io.seriatim.graph.op.Lowering;
import io.seriatim.graph.op.Numbers;
import io.seriatim.graph.op.Operand;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.ops.common.Checks;
import io.seriatim.graph.ops.common.Elements;
import io.seriatim.graph.util.XxHash64;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import io.seriatim.tensor.computation.Binary;
import io.seriatim.tensor.computation.Copy;
import io.seriatim.tensor.computation.Unary;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/** Features of what was shown and clicked, and hashes of features. */
public final class ClickOperations {
    /** How many of the first columns count how often something was shown and clicked. */
    private static final int COUNTERS = 2;

    private ClickOperations() {
    }

    public static void register(Operations registry) {
        clicks(registry);
        hash(registry);
    }

    /**
     * Logarithms of the counters of shows and clicks, or features without them. The gradient of the counters is what
     * the input CVM says.
     */
    private static void clicks(Operations registry) {
        Operation.define("cvm").in("X", "CVM").out("Y").attr("use_cvm", true).infer(inference -> {
            Checks.floating(inference, "X", "CVM");
            long[] x = inference.dims("X");
            inference.require(x.length == 2 && (x[1] < 0 || x[1] >= COUNTERS),
                    "X must have the shape [batch, features], with %d features or more, but has %s", COUNTERS,
                    Numbers.text(x));
            Checks.shape(inference, "CVM", -1, COUNTERS);
            inference.set("Y", inference.dtype("X"), x[0],
                    inference.attrs().getBool("use_cvm") || x[1] < 0 ? x[1] : x[1] - COUNTERS);
        }).lower(l -> {
            Operand x = l.in("X");
            long width = x.dim(1);
            Operand rest = x.slice(1, COUNTERS, width);
            if (!l.attrs().getBool("use_cvm")) {
                l.out("Y", rest);
                return;
            }
            Operand y = l.output("Y");
            Operand shown = l.unary(Unary.Function.LOG, l.linear(x.slice(1, 0, 1), 1, 1));
            Operand clicked = l.unary(Unary.Function.LOG, l.linear(x.slice(1, 1, 2), 1, 1));
            put(l, shown, y.slice(1, 0, 1));
            put(l, l.binary(Binary.Function.SUBTRACT, clicked, shown), y.slice(1, 1, 2));
            put(l, rest, y.slice(1, COUNTERS, width));
        }).grad("cvm_grad(X, CVM, Y@GRAD) -> X@GRAD", l -> {
            Operand dx = l.output("X@GRAD");
            Operand dy = l.in("Y@GRAD");
            long width = dx.dim(1);
            put(l, l.in("CVM").expand(dx.slice(1, 0, COUNTERS).shape()), dx.slice(1, 0, COUNTERS));
            put(l, l.attrs().getBool("use_cvm") ? dy.slice(1, COUNTERS, width) : dy, dx.slice(1, COUNTERS, width));
        }).register(registry);
    }

    private static void put(Lowering l, Operand from, Operand to) {
        l.into(Copy.PLAIN, List.of(from), List.of(to));
    }

    /** The remainders of XXH64 of each row, with the seeds 0, 1, … */
    private static void hash(Operations registry) {
        Operation.define("hash").in("X").out("Out").attr("num_hash", 1).attr("mod_by", 100000L).infer(inference -> {
            Checks.whole(inference, "X");
            long[] x = inference.dims("X");
            inference.require(x.length == 2, "X must have the shape [rows, width], but has %s", Numbers.text(x));
            long hashes = inference.attrs().getLong("num_hash");
            inference.require(hashes >= 1, "num_hash must be 1 or more, but is %d", hashes);
            inference.require(inference.attrs().getLong("mod_by") != 0, "mod_by must not be 0");
            inference.set("Out", inference.dtype("X"), x[0], hashes, 1);
        }).lower(l -> {
            int hashes = l.attrs().getInt("num_hash");
            long modulus = l.attrs().getLong("mod_by");
            l.call("hash", (in, out) -> {
                Tensor x = Checks.tensor(in, 0);
                int width = Checks.dim(x, 1) * (x.dtype() == DType.INT32 ? Integer.BYTES : Long.BYTES);
                long[] results = new long[Checks.dim(x, 0) * hashes];
                byte[] row = new byte[width];
                for (int i = 0; i < results.length; i++) {
                    MemorySegment.copy(x.memory(), ValueLayout.JAVA_BYTE,
                            x.offset() + (long) (i / hashes) * width, row, 0, width);
                    results[i] = Long.remainderUnsigned(XxHash64.of(row, i % hashes), modulus);
                }
                Elements.write(results, Checks.tensor(out, 0));
            }, List.of(l.in("X")), List.of(l.output("Out")));
        }).register(registry);
    }
}
