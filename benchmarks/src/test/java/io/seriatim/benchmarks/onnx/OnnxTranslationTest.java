package io.seriatim.benchmarks.onnx;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.benchmarks.serve.ServePeer;
import io.seriatim.graph.Graph;
import io.seriatim.graph.Network;
import io.seriatim.graph.Outputs;
import io.seriatim.graph.Value;
import io.seriatim.graph.program.VarDesc;
import io.seriatim.tensor.DType;
import io.seriatim.tensor.Tensor;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Reads the written model with the protocol buffers library. */
class OnnxTranslationTest {
    private static UnknownFieldSet graph(BiFunction<Graph, Value, Value> layers, long... dims) throws Exception {
        Network network = Network.define(1, g -> Outputs.of("y", layers.apply(g, g.data("x", DType.FLOAT32, dims))));
        Map<String, Tensor> parameters = new HashMap<>();
        for (VarDesc variable : network.main().parameters()) {
            long[] shape = Objects.requireNonNull(variable.type().tensorType()).shape();
            parameters.put(variable.name(),
                    Tensor.of(new float[(int) Arrays.stream(shape).reduce(1, (a, b) -> a * b)], shape));
        }
        byte[] model = OnnxTranslation.of(network.main().copyForTest(), parameters, "x",
                network.outputs().get("y").name());
        return message(UnknownFieldSet.parseFrom(model), 7).getFirst();
    }

    private static List<UnknownFieldSet> message(UnknownFieldSet set, int field) {
        return set.getField(field).getLengthDelimitedList().stream().map(bytes -> {
            try {
                return UnknownFieldSet.parseFrom(bytes);
            } catch (InvalidProtocolBufferException e) {
                throw new AssertionError(e);
            }
        }).toList();
    }

    private static String text(UnknownFieldSet set, int field) {
        return set.getField(field).getLengthDelimitedList().getFirst().toStringUtf8();
    }

    private static List<String> nodes(UnknownFieldSet graph) {
        return message(graph, 1).stream().map(node -> text(node, 4) + node.getField(1).getLengthDelimitedList().size())
                .toList();
    }

    @Test
    void productsAndConvolutionsTakeTheirBias() throws Exception {
        UnknownFieldSet graph = graph((g, x) -> g.linear(
                g.layers().conv2d(1, 4, 3).apply(x).maxPool2d(2, 2, 0).relu().flatten(1), 10), 1, 1, 8, 8);
        assertEquals(List.of("Conv3", "MaxPool1", "Relu1", "Flatten1", "Gemm3"), nodes(graph));
        assertEquals(4, graph.getField(5).getLengthDelimitedList().size(), "parameters");
        UnknownFieldSet input = message(graph, 11).getFirst();
        assertEquals("x", text(input, 1));
        UnknownFieldSet tensor = message(message(input, 2).getFirst(), 1).getFirst();
        assertEquals(List.of(1L, 1L, 8L, 8L), message(message(tensor, 2).getFirst(), 1).stream()
                .map(dim -> dim.getField(1).getVarintList().getFirst()).toList());
    }

    @Test
    void aResidualIsAnAddition() throws Exception {
        UnknownFieldSet graph = graph((g, x) -> {
            Value y = g.batchNorm(g.layers().conv2d(2, 2, 3).padding(1).noBias().apply(x));
            return y.plus(x).relu().globalAveragePool2d().flatten(1);
        }, 1, 2, 8, 8);
        assertEquals(List.of("Conv2", "BatchNormalization5", "Add2", "Relu1", "GlobalAveragePool1", "Flatten1"),
                nodes(graph));
        List<Long> pads = message(message(graph, 1).getFirst(), 5).stream()
                .filter(attribute -> text(attribute, 1).equals("pads"))
                .findFirst().orElseThrow().getField(8).getVarintList();
        assertEquals(List.of(1L, 1L, 1L, 1L), pads);
    }

    @Test
    void whatIsUnknownIsNamed() {
        PeerUnavailableException e = assertThrows(PeerUnavailableException.class,
                () -> graph((_, x) -> x.tanh(), 1, 4));
        assertTrue(String.valueOf(e.getMessage()).contains("operation tanh"), e.getMessage());
    }

    @Test
    void theWireFormatIsThatOfItsDescription() {
        // The examples of the specification: the number 150, the string "testing".
        assertArrayEquals(new byte[]{8, (byte) 0x96, 1}, new ProtobufMessage().number(1, 150).toByteArray());
        assertArrayEquals(new byte[]{0x12, 7, 't', 'e', 's', 't', 'i', 'n', 'g'},
                new ProtobufMessage().text(2, "testing").toByteArray());
        assertArrayEquals(new byte[]{0x1d, 0, 0, (byte) 0x80, 0x3f}, new ProtobufMessage().real(3, 1).toByteArray());
    }

    @Test
    void thePeerIsFoundAsAService() {
        Stream<String> names = ServiceLoader.load(ServePeer.class).stream().map(peer -> peer.get().name());
        assertEquals(List.of("ONNX Runtime 1.29.0"), names.toList());
    }
}
