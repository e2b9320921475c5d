package io.seriatim.benchmarks.onnx;

import io.seriatim.benchmarks.common.PeerUnavailableException;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The calls of ONNX Runtime's Java library that a request needs. The library is loaded from a jar that is downloaded on
 * demand, so the calls use method handles. Each costs some nanoseconds more than a direct call, of at least 30
 * microseconds per request.
 */
final class OnnxRuntimeCalls {
    private static final Map<Path, OnnxRuntimeCalls> LOADED = new HashMap<>();
    private static final String PACKAGE = "ai.onnxruntime.";

    private final Object environment;
    private final MethodHandle newOptions;
    private final MethodHandle setIntraOpThreads;
    private final MethodHandle setInterOpThreads;
    private final MethodHandle createSession;
    private final MethodHandle createTensor;
    private final MethodHandle run;
    private final MethodHandle get;
    private final MethodHandle floats;

    private OnnxRuntimeCalls(Path jar) throws IOException, ReflectiveOperationException, PeerUnavailableException {
        // Never closed, because classes are loaded from it until the process ends.
        ClassLoader loader = new URLClassLoader("onnxruntime", new URL[]{jar.toUri().toURL()},
                OnnxRuntimeCalls.class.getClassLoader());
        MethodHandles.Lookup lookup = MethodHandles.publicLookup();
        Class<?> environmentType = loader.loadClass(PACKAGE + "OrtEnvironment");
        Class<?> optionsType = loader.loadClass(PACKAGE + "OrtSession$SessionOptions");
        Class<?> sessionType = loader.loadClass(PACKAGE + "OrtSession");
        Class<?> tensorType = loader.loadClass(PACKAGE + "OnnxTensor");
        Class<?> resultType = loader.loadClass(PACKAGE + "OrtSession$Result");
        Class<?> valueType = loader.loadClass(PACKAGE + "OnnxValue");
        newOptions = generic(lookup.findConstructor(optionsType, MethodType.methodType(void.class)), Object.class);
        setIntraOpThreads = generic(
                lookup.findVirtual(optionsType, "setIntraOpNumThreads", MethodType.methodType(void.class, int.class)),
                void.class, Object.class, int.class);
        setInterOpThreads = generic(
                lookup.findVirtual(optionsType, "setInterOpNumThreads", MethodType.methodType(void.class, int.class)),
                void.class, Object.class, int.class);
        createSession = generic(
                lookup.findVirtual(environmentType, "createSession",
                        MethodType.methodType(sessionType, byte[].class, optionsType)),
                Object.class, Object.class, byte[].class, Object.class);
        createTensor = generic(
                lookup.findStatic(tensorType, "createTensor",
                        MethodType.methodType(tensorType, environmentType, FloatBuffer.class, long[].class)),
                AutoCloseable.class, Object.class, FloatBuffer.class, long[].class);
        run = generic(lookup.findVirtual(sessionType, "run", MethodType.methodType(resultType, Map.class)),
                AutoCloseable.class,
                Object.class, Map.class);
        get = generic(lookup.findVirtual(resultType, "get", MethodType.methodType(valueType, int.class)), Object.class,
                Object.class,
                int.class);
        floats = generic(lookup.findVirtual(tensorType, "getFloatBuffer", MethodType.methodType(FloatBuffer.class)),
                FloatBuffer.class,
                Object.class);
        environment = call(() -> lookup
                .findStatic(environmentType, "getEnvironment", MethodType.methodType(environmentType)).invoke());
    }

    private interface Call<T> {
        T make() throws Throwable;
    }

    /** A request cannot recover from exceptions of the library. */
    private static <T> T call(Call<T> call) throws PeerUnavailableException {
        try {
            return call.make();
        } catch (Error e) {
            throw e;
        } catch (Throwable e) {
            throw new PeerUnavailableException("ONNX Runtime says: " + e.getMessage(), e);
        }
    }

    private static MethodHandle generic(MethodHandle handle, Class<?> result, Class<?>... parameters) {
        return handle.asType(MethodType.methodType(result, parameters));
    }

    /** Returns the library of a jar. Native code can be loaded only once. */
    static synchronized OnnxRuntimeCalls of(Path jar) throws PeerUnavailableException {
        @Nullable
        OnnxRuntimeCalls known = LOADED.get(jar);
        if (known == null) {
            try {
                known = new OnnxRuntimeCalls(jar);
            } catch (IOException | ReflectiveOperationException | LinkageError e) {
                throw new PeerUnavailableException(jar + " cannot be loaded: " + e, e);
            }
            LOADED.put(jar, known);
        }
        return known;
    }

    /** Creates a session that runs operations one after the other on the calling thread. */
    AutoCloseable open(byte... model) throws PeerUnavailableException {
        return call(() -> {
            Object options = (Object) newOptions.invokeExact();
            try (AutoCloseable _ = (AutoCloseable) options) {
                setIntraOpThreads.invokeExact(options, 1);
                setInterOpThreads.invokeExact(options, 1);
                Object session = (Object) createSession.invokeExact(environment, model, options);
                return (AutoCloseable) session;
            }
        });
    }

    float[] run(AutoCloseable session, String fed, float[] values, long... shape) {
        try (AutoCloseable x = (AutoCloseable) createTensor.invokeExact(environment, FloatBuffer.wrap(values), shape);
                AutoCloseable results = (AutoCloseable) run.invokeExact((Object) session, Map.of(fed, x))) {
            Object first = (Object) get.invokeExact((Object) results, 0);
            FloatBuffer buffer = (FloatBuffer) floats.invokeExact(first);
            float[] y = new float[buffer.remaining()];
            buffer.get(y);
            return y;
        } catch (Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("ONNX Runtime says: " + e.getMessage(), e);
        }
    }

    void close(AutoCloseable session) {
        try {
            session.close();
        } catch (Exception e) {
            throw new IllegalStateException("ONNX Runtime says: " + e.getMessage(), e);
        }
    }
}
