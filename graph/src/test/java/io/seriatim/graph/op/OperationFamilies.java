package io.seriatim.graph.op;

import io.seriatim.graph.ops.BuiltInOperations;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The families of operations: each is a package, in which classes with a method {@code register} define them. */
public final class OperationFamilies {
    private static final Pattern DESCRIPTION = Pattern.compile("/\\*\\*(.*?)\\*/", Pattern.DOTALL);

    private OperationFamilies() {
    }

    /** The operations of each family, by the name of its package. */
    public static SortedMap<String, Collection<Operation>> all() {
        SortedMap<String, Collection<Operation>> families = new TreeMap<>();
        for (Path folder : children(classes())) {
            List<Path> files = Files.isDirectory(folder) ? children(folder) : List.of();
            SortedMap<String, Operation> operations = new TreeMap<>();
            for (Path file : files) {
                Operations registry = new Operations();
                register(folder.getFileName().toString(), file.getFileName().toString(), registry);
                registry.registered().forEach(operation -> operations.put(operation.type(), operation));
            }
            addGradients(operations);
            if (!operations.isEmpty()) {
                families.put(folder.getFileName().toString(), operations.values());
            }
        }
        return families;
    }

    /** What each class of a family adds, by the names of its package and the class. */
    static SortedMap<String, Operations> byClass() {
        SortedMap<String, Operations> families = new TreeMap<>();
        for (Path folder : children(classes())) {
            for (Path file : Files.isDirectory(folder) ? children(folder) : List.<Path>of()) {
                Operations registry = new Operations();
                String family = folder.getFileName().toString();
                register(family, file.getFileName().toString(), registry);
                if (!registry.registered().isEmpty()) {
                    families.put(family + "." + file.getFileName().toString().replace(".class", ""), registry);
                }
            }
        }
        return families;
    }

    /** Gradients that are derived belong to the family of the operation that names them. */
    private static void addGradients(SortedMap<String, Operation> operations) {
        Deque<Operation> left = new ArrayDeque<>(operations.values());
        while (!left.isEmpty()) {
            Operation gradient = left.pop().gradient() instanceof GradientSignature signature
                    ? Operations.system().find(signature.type())
                    : null;
            if (gradient != null && isNamed(gradient) && operations.putIfAbsent(gradient.type(), gradient) == null) {
                left.push(gradient);
            }
        }
    }

    /** Some gradients are operations of other families, such as copies. */
    private static boolean isNamed(Operation gradient) {
        return gradient.type().endsWith("_grad");
    }

    private static Path classes() {
        try {
            Path root = Path.of(BuiltInOperations.class.getProtectionDomain().getCodeSource().getLocation().toURI());
            return root.resolve(BuiltInOperations.class.getPackageName().replace('.', '/'));
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static List<Path> children(Path folder) {
        try (Stream<Path> paths = Files.list(folder)) {
            return new ArrayList<>(paths.sorted().toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void register(String family, String file, Operations registry) {
        if (!file.endsWith(".class") || file.contains("$") || file.equals("package-info.class")) {
            return;
        }
        String name = BuiltInOperations.class.getPackageName() + "." + family + "."
                + file.substring(0, file.length() - ".class".length());
        try {
            for (Method method : Class.forName(name).getMethods()) {
                if (method.getName().equals("register") && method.getParameterCount() == 1
                        && method.getParameterTypes()[0] == Operations.class) {
                    method.invoke(null, registry);
                }
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(name, e);
        }
    }

    /** What the source of a family's package says of it, in one line. */
    public static String description(Path sources, String family) throws IOException {
        String source = Files.readString(sources.resolve(family).resolve("package-info.java"));
        Matcher matcher = DESCRIPTION.matcher(source);
        if (!matcher.find()) {
            throw new IllegalStateException("The package " + family + " has no description");
        }
        return matcher.group(1).replaceAll("\\s*\\n\\s*\\*\\s?", " ").replaceAll("\\{@code ([^}]*)\\}", "`$1`").strip();
    }
}
