package io.seriatim.examples.architecture;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A class with every kind of declaration, for ApiTextTest. */
public abstract class ApiSample<T extends Comparable<T>> implements Runnable {
    public static final int MOST = 1;
    private int hidden;

    protected ApiSample(@Nullable String name) {
        hidden = name == null ? 0 : 1;
    }

    ApiSample() {
    }

    public <U extends Number & Runnable> Map<String, @Nullable T> all(List<? super U> some, int[]... more)
            throws IOException {
        throw new IOException("for example " + hidden + some + more.length);
    }

    public Map.@Nullable Entry<String, T> entry(byte @Nullable [] bytes) {
        return bytes == null ? null : Map.entry("", some());
    }

    @Deprecated
    protected abstract T some();

    void unseen() {
    }

    public enum Kind {
        FIRST, SECOND
    }

    public record Pair(@Nullable String left, int right) {
    }

    public sealed interface Either permits Left, Right {
        default int size() {
            return 0;
        }
    }

    public record Left() implements Either {
    }

    public record Right() implements Either {
    }

    static class Unseen {
        public void unseen() {
        }
    }
}
