package io.seriatim.examples.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class ApiTextTest {
    private static String text(Class<?> type) {
        return ApiText.of(List.of(type)).replace("io.seriatim.examples.architecture.", "");
    }

    @Test
    void aClassIsWrittenWithEverythingThatItsUsersCanName() {
        assertEquals(
                """
                        ApiSample: public abstract class ApiSample<T extends Comparable<T>> implements Runnable
                          public static final int MOST
                          protected ApiSample(@Nullable String)
                          public <U extends Number & Runnable> Map<String, @Nullable T> all(List<? super U>, int[]...) throws IOException
                          public @Nullable Map.Entry<String, T> entry(byte @Nullable [])
                          @Deprecated protected abstract T some()
                        """,
                text(ApiSample.class));
    }

    @Test
    void kindsOfTypesAreWrittenAsInSources() {
        assertTrue(text(ApiSample.Kind.class).startsWith("ApiSample$Kind: public enum Kind {FIRST, SECOND}\n"),
                text(ApiSample.Kind.class));
        assertTrue(text(ApiSample.Pair.class).startsWith(
                "ApiSample$Pair: public record Pair(@Nullable String left, int right)\n"),
                text(ApiSample.Pair.class));
        assertEquals("""
                ApiSample$Either: public sealed interface Either permits Left, Right
                  default public int size()
                """, text(ApiSample.Either.class));
    }

    @Test
    void whatUsersCannotNameIsLeftOut() {
        assertEquals("", text(ApiSample.Unseen.class));
        assertFalse(text(ApiSample.class).contains("nseen"));
    }
}
