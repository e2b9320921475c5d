package io.seriatim.engine;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A method of CompletableFuture that returns a stage, found by reflection, so that none is forgotten. Its functions do
 * nothing and return 1, or the given stage.
 */
record Derivation(Method method) {
    private static final List<Derivation> ALL = Arrays.stream(CompletableFuture.class.getMethods())
            .filter(m -> !Modifier.isStatic(m.getModifiers()) && !m.isBridge()
                    && CompletionStage.class.isAssignableFrom(m.getReturnType())
                    && !m.getName().equals("newIncompleteFuture"))
            .sorted(Comparator.comparing(Method::toGenericString)).map(Derivation::new).toList();

    static List<Derivation> all() {
        return ALL;
    }

    /** Whether the derived stage needs the second one only, or only one of the two. */
    boolean isEither() {
        return method.getName().contains("Either");
    }

    boolean takesStage() {
        return Arrays.asList(method.getParameterTypes()).contains(CompletionStage.class);
    }

    boolean composes() {
        return method.getName().contains("Compose");
    }

    /** Whether the method completes the future itself, sooner or later. */
    boolean completes() {
        return method.getName().startsWith("complete");
    }

    /** Calls the method. */
    CompletionStage<?> of(CompletionStage<?> source, CompletionStage<?> other, Executor executor) {
        Object[] arguments = Arrays.stream(method.getParameterTypes()).map(type -> argument(type, other, executor))
                .toArray();
        try {
            return (CompletionStage<?>) method.invoke(source, arguments);
        } catch (InvocationTargetException e) {
            throw new AssertionError(this + " throws", e.getCause());
        } catch (IllegalAccessException e) {
            throw new AssertionError(this + " is not accessible", e);
        }
    }

    private Object argument(Class<?> type, CompletionStage<?> other, Executor executor) {
        boolean composes = composes();
        if (type == Function.class) {
            return (Function<Object, Object>) x -> composes ? other : (Object) 1;
        } else if (type == BiFunction.class) {
            return (BiFunction<Object, Object, Object>) (x, y) -> 1;
        } else if (type == Consumer.class) {
            return (Consumer<Object>) x -> {
            };
        } else if (type == BiConsumer.class) {
            return (BiConsumer<Object, Object>) (x, y) -> {
            };
        } else if (type == Runnable.class) {
            return (Runnable) () -> {
            };
        } else if (type == Supplier.class) {
            return (Supplier<Object>) () -> 1;
        } else if (type == CompletionStage.class) {
            return other;
        } else if (type == Executor.class) {
            return executor;
        } else if (type == TimeUnit.class) {
            return TimeUnit.DAYS;
        } else if (type == long.class) {
            return 1L;
        } else if (type == Object.class) {
            return 1;
        }
        throw new AssertionError("no argument of type " + type + " for " + method);
    }

    @Override
    public String toString() {
        return method.getName() + Arrays.stream(method.getParameterTypes()).map(Class::getSimpleName).toList();
    }
}
