package io.seriatim.tensor.array;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.seriatim.engine.Engine;
import io.seriatim.tensor.onednn.OneDnn;
import java.io.File;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Arrays are computed in JVMs that deny native access or have no home folder. */
class JvmOptionsTest {
    private static final long SECONDS = 60;

    @TempDir
    private Path temp;

    /** Computes a product, drops and takes memory again, and prints which library computed it. */
    static final class Product {
        private Product() {
        }

        public static void main(String[] args) throws InterruptedException {
            double sum = 0;
            try (Engine engine = Engine.create()) {
                NDArrays nd = NDArrays.on(engine);
                for (int i = 0; i < 20; i++) {
                    try (NDArray a = nd.of(new float[]{1, 2, 3, 4}, 2, 2); NDArray product = a.matmul(a)) {
                        for (double each : product.toArray()) {
                            sum += each;
                        }
                    }
                }
            }
            System.out.println("library " + OneDnn.status().loaded() + " sum " + sum);
        }
    }

    private static String run(String... options) throws Exception {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", classPath(), Product.class.getName()));
        return ForkedJvm.run(SECONDS, command);
    }

    /** All that this process has: its module path may hold jars, and the tests are a patch of a module. */
    private static String classPath() {
        String file = Product.class.getName().replace('.', '/') + ".class";
        String url = String.valueOf(Product.class.getResource('/' + file));
        String tests = Path.of(URI.create(url.substring(0, url.length() - file.length()))).toString();
        return Stream.of(tests, System.getProperty("jdk.module.path", ""), System.getProperty("java.class.path", ""))
                .filter(each -> !each.isEmpty()).collect(Collectors.joining(File.pathSeparator));
    }

    private static void assertSum(boolean library, String printed) {
        String last = printed.strip().lines().toList().getLast();
        assertEquals("library " + library + " sum 1080.0", last, printed);
    }

    @Test
    void withoutNativeAccessPlainJavaComputes() throws Exception {
        String printed = run("--illegal-native-access=deny");
        assertSum(false, printed);
        assertTrue(printed.contains("start it with --enable-native-access=ALL-UNNAMED"), printed);
        assertTrue(printed.contains("'seriatim doctor' says more"), printed);
    }

    @Test
    void withNativeAccessTheLibraryDoes() throws Exception {
        assumeTrue(OneDnn.status().loaded(), "oneDNN is not here");
        assertSum(true, run("--illegal-native-access=deny", "--enable-native-access=ALL-UNNAMED"));
    }

    /** As in containers whose file system is read-only: no folder can be created in a file. */
    @Test
    void withoutAHomeTheLibraryIsUnpackedToTheTemporaryFolder() throws Exception {
        assumeTrue(OneDnn.status().loaded(), "oneDNN is not here");
        assumeTrue(System.getenv("XDG_CACHE_HOME") == null, "the cache is not in the home folder");
        String home = "-Duser.home=" + Files.createFile(temp.resolve("home"));
        assertSum(true, run("--enable-native-access=ALL-UNNAMED", home, "-Djava.io.tmpdir=" + temp));
        String printed = run("--enable-native-access=ALL-UNNAMED", home,
                "-Djava.io.tmpdir=" + temp.resolve("home/missing"));
        assertSum(false, printed);
        assertTrue(printed.contains("choose another folder with -Dseriatim.natives=DIR"), printed);
    }
}
