package io.seriatim.benchmarks.onnx;

import io.seriatim.benchmarks.common.PeerFolder;
import io.seriatim.benchmarks.common.PeerUnavailableException;
import io.seriatim.benchmarks.serve.ServePeer;
import io.seriatim.graph.program.Program;
import io.seriatim.tensor.Tensor;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/** ONNX Runtime for Java, from Maven Central. */
public final class OnnxRuntimePeer implements ServePeer {
    static final String VERSION = "1.29.0";

    private static final String JAR = "onnxruntime-" + VERSION + ".jar";
    private static final String ARTIFACT = "com.microsoft.onnxruntime:onnxruntime:" + VERSION;

    /** Created by the service loader. */
    public OnnxRuntimePeer() {
        // The library is loaded only when a session is opened.
    }

    @Override
    public String name() {
        return "ONNX Runtime " + VERSION;
    }

    @Override
    public Session open(Program network, Map<String, Tensor> parameters, String fed, String fetched,
            Consumer<String> notice)
            throws PeerUnavailableException, InterruptedException {
        byte[] model = OnnxTranslation.of(network, parameters, fed, fetched);
        long[] shape = Objects.requireNonNull(network.global().get(fed).type().tensorType()).shape();
        OnnxRuntimeCalls calls = OnnxRuntimeCalls
                .of(PeerFolder.beside(OnnxRuntimePeer.class).jar(JAR, ARTIFACT, "54 MB", notice));
        return new OnnxRuntimeSession(calls, calls.open(model), fed, shape);
    }
}
