package io.seriatim.benchmarks.onnx;

import io.seriatim.benchmarks.serve.ServePeer;

/**
 * One session for all callers.
 *
 * @param calls
 *            the library
 * @param session
 *            its session
 * @param fed
 *            the name of what is fed
 * @param shape
 *            of what is fed
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
