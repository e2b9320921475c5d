package io.seriatim.graph.ops.control;

import io.seriatim.graph.op.Attrs;
import io.seriatim.graph.op.Effect;
import io.seriatim.graph.op.Inference;
import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Attribute;
import io.seriatim.graph.program.OpDesc;
import io.seriatim.tensor.DType;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Communication between ranks, which an executor carries out. */
public final class CommunicationOperations {
    /** What float32 travels as: the number of a type, or -1 for its own. PaddlePaddle has none. */
    private static final String WIRE = "wire_dtype";

    private CommunicationOperations() {
    }

    public static void register(Operations registry) {
        collective(registry, "c_allreduce_sum", builder -> builder.in("Cond?").attr("use_model_parallel", false)
                .attr(WIRE, -1), CommunicationOperations::summed);
        collective(registry, "c_broadcast", builder -> builder.attr("root", 0), inference -> {
        });
        collective(registry, "c_allgather", builder -> builder.required("nranks", Attribute.Int.class),
                CommunicationOperations::gathered);
        collective(registry, "c_reducescatter", builder -> builder.attr("nranks", 1),
                CommunicationOperations::scattered);
        Operation.define("c_sync_calc_stream").in("X").out("Out").effect(Effect.COMMUNICATION)
                .infer(inference -> inference.same("X", "Out")).register(registry);
        Operation.define("c_sync_comm_stream").in("X*").out("Out*").attr("ring_id", 0).effect(Effect.COMMUNICATION)
                .infer(inference -> inference.sameEach("X", "Out")).register(registry);
        peer("send_v2", "sends to").in("X").register(registry);
        peer("recv_v2", "receives from").out("Out").attr("dtype", 5).attr("out_shape", new int[0])
                .infer(inference -> inference.set("Out", inference.attrs().getDType("dtype"),
                        inference.attrs().getLongs("out_shape")))
                .register(registry);
        pipeline(registry);
    }

    /** The operations between the stages of a pipeline, under the names of newer programs. */
    private static void pipeline(Operations registry) {
        stage("p_send", "sends to").in("x").attr("dynamic_shape", false).register(registry);
        stage("p_send_array", "sends to").in("x*").register(registry);
        stage("p_recv", "receives from").out("out").attr("dtype", 5).attr("dynamic_shape", false)
                .infer(inference -> inference.asDeclared("out")).register(registry);
        stage("p_recv_array", "receives from").out("out").attr("dtype", 5).attr("out_shape", new int[0])
                .infer(inference -> inference.asDeclared("out")).register(registry);
    }

    private static void collective(Operations registry, String type, Consumer<Operation.Builder> more,
            Inference.Rule rule) {
        Operation.Builder builder = Operation.define(type).in("X").out("Out").attr("ring_id", 0)
                .attr("use_calc_stream", false)
                .effect(Effect.COMMUNICATION).refuseRanks(CommunicationOperations::among).infer(inference -> {
                    inference.same("X", "Out");
                    rule.infer(inference);
                });
        more.accept(builder);
        builder.register(registry);
    }

    /**
     * Without a communicator nothing is copied in place of a sum: the result would silently be wrong. The communicator
     * is that of all ranks, which is ring 0; a part of them is another ring.
     */
    private static @Nullable String among(OpDesc op, Attrs attrs, int ranks) {
        String type = op.type();
        if (ranks == 0) {
            return "it is among several ranks (ring " + attrs.getInt("ring_id")
                    + "), but the run has no communicator: give the executor one with Executor.builder().communicator, "
                    + "one of a single rank too, or take the operation out";
        }
        if (attrs.getInt("ring_id") != 0) {
            return "it is among the ranks of ring " + attrs.getInt("ring_id")
                    + ", but a communicator has only ring 0, that of all " + ranks + " ranks: set ring_id to 0";
        }
        if (op.attribute("nranks") != null && attrs.getLong("nranks") != ranks) {
            return "it is among " + attrs.getLong("nranks") + " ranks (nranks), but the communicator has " + ranks
                    + ": make the program for " + ranks + ", or run it with as many ranks as it has";
        }
        if (type.equals("c_broadcast") && (attrs.getInt("root") < 0 || attrs.getInt("root") >= ranks)) {
            return "it copies from rank " + attrs.getInt("root") + " (root), but the ranks are 0 to " + (ranks - 1);
        }
        if (type.equals("c_reducescatter") && op.attribute("nranks") == null && ranks > 1) {
            return "it does not say among how many ranks it is: set nranks to " + ranks;
        }
        if (type.equals("c_allreduce_sum") && !op.input("Cond").isEmpty()) {
            return "it communicates only if '" + op.input("Cond").getFirst()
                    + "' (Cond) is true, which ranks may see differently: use a conditional_block, or take Cond out";
        }
        return null;
    }

    private static Operation.Builder peer(String type, String does) {
        return stage(type, does).attr("use_calc_stream", false).attr("dynamic_shape", false);
    }

    private static Operation.Builder stage(String type, String does) {
        return Operation.define(type).attr("ring_id", 0).attr("peer", 0)
                .effect(Effect.COMMUNICATION)
                .refuse((_, attrs) -> "it " + does + " rank " + attrs.getInt("peer")
                        + ", but ranks exchange whole tensors by collectives only; take the operation out, or "
                        + "run the program's parts one after the other");
    }

    private static int ranks(Inference inference) {
        int ranks = inference.attrs().getInt("nranks");
        inference.require(ranks >= 1, "there must be at least one rank, but nranks is %d", ranks);
        return ranks;
    }

    private static void summed(Inference inference) {
        if (inference.attrs().getInt(WIRE) < 0 || inference.dtype("X") == null) {
            return;
        }
        DType wire = inference.attrs().getDType(WIRE);
        inference.require(wire == inference.dtype("X")
                || (wire == DType.BFLOAT16 && inference.dtype("X") == DType.FLOAT32),
                "X is %s and cannot travel as %s (wire_dtype): only float32 can, as bfloat16, which is 22",
                inference.dtype("X"), wire);
    }

    private static void gathered(Inference inference) {
        long[] dims = along(inference);
        dims[0] = dims[0] < 0 ? -1 : Math.multiplyExact(dims[0], ranks(inference));
        inference.set("Out", inference.dtype("X"), dims);
    }

    private static void scattered(Inference inference) {
        long[] dims = along(inference);
        int ranks = ranks(inference);
        inference.require(dims[0] < 0 || dims[0] % ranks == 0,
                "the first dimension %d must be a multiple of the ranks, %d", dims[0],
                ranks);
        dims[0] = dims[0] < 0 ? -1 : dims[0] / ranks;
        inference.set("Out", inference.dtype("X"), dims);
    }

    private static long[] along(Inference inference) {
        long[] dims = inference.dims("X");
        inference.require(dims.length > 0, "X needs a first dimension");
        return dims;
    }
}
