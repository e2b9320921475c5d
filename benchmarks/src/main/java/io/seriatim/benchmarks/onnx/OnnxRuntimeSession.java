package io.seriatim.benchmarks.onnx;

import io.seriatim.benchmarks.serve.ServePeer;

/**
 * A session that all callers share.
 *
 * @param calls
 *            the library
 * @param session
 *            the library's session
 * @param fed
 *            the name of the input
 * @param shape
 *            the shape of the input
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
record OnnxRuntimeSession(OnnxRuntimeCalls calls, AutoCloseable session, String fed,
        long... shape) implements ServePeer.Session {
    @Override
    public float[] call(float... values) {
        return calls.run(session, fed, values, shape);
    }

    @Override
    public void close() {
        calls.close(session);
    }
}
