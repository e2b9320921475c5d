package io.seriatim.examples.architecture;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * docs/api has the public declarations of each published module, so that a review shows each change of them.
 */
class PublicApiTest {
    private static final Path ROOT = Path.of("..");
    private static final Path PAGES = ROOT.resolve("docs/api");
    private static final String REWRITE = "seriatim.write-public-api";
    /** Without qualified exports, which only our own modules see. */
    private static final Pattern EXPORT = Pattern.compile("^\\s*exports\\s+([\\w.]+);", Pattern.MULTILINE);
    private static final Pattern INCLUDE = Pattern.compile("<include>(io\\.seriatim[\\w.]*)</include>");
    private static final Pattern LIBRARY = Pattern.compile("<artifactId>seriatim-(\\w+)</artifactId>");
    /** Without a descriptor: Spark's jars cannot be on a module path. Its packages have the module's name. */
    private static final String WITHOUT_DESCRIPTOR = "spark";

    /** Returns the published modules, which are in the BOM, if they have a descriptor. */
    static List<String> published() throws IOException {
        List<String> modules = new ArrayList<>();
        Matcher artifact = LIBRARY.matcher(Files.readString(ROOT.resolve("release/bom/pom.xml")));
        while (artifact.find()) {
            if (Files.exists(descriptor(artifact.group(1)))) {
                modules.add(artifact.group(1));
            }
        }
        return modules;
    }

    private static Path descriptor(String module) {
        return ROOT.resolve(module).resolve("src/main/java/module-info.java");
    }

    /** Returns the packages that a module exports to all. */
    static List<String> exports(String module) throws IOException {
        List<String> packages = new ArrayList<>();
        Matcher export = EXPORT.matcher(Files.readString(descriptor(module)));
        while (export.find()) {
            packages.add(export.group(1));
        }
        return packages;
    }

    private static List<String> packages(String module) throws IOException {
        return module.equals(WITHOUT_DESCRIPTOR) ? List.of("io.seriatim." + module) : exports(module);
    }

    private static String api(String module) throws IOException {
        List<Class<?>> classes = new ArrayList<>();
        for (String name : packages(module)) {
            List<Class<?>> own = classes(name);
            assertFalse(own.isEmpty(), "no classes in " + name);
            classes.addAll(own);
        }
        return ApiText.of(classes);
    }

    /** Returns the classes of a package, wherever in the class path it is. */
    static List<Class<?>> classes(String name) throws IOException {
        List<Class<?>> classes = new ArrayList<>();
        for (URL folder : Collections
                .list(PublicApiTest.class.getClassLoader().getResources(name.replace('.', '/')))) {
            URI uri = uri(folder);
            if (uri.getScheme().equals("jar")) {
                try (FileSystem jar = FileSystems.newFileSystem(uri, Map.of())) {
                    classes.addAll(classes(name, jar.getPath(name.replace('.', '/'))));
                }
            } else {
                classes.addAll(classes(name, Path.of(uri)));
            }
        }
        return classes;
    }

    private static URI uri(URL url) {
        try {
            return url.toURI();
        } catch (URISyntaxException e) {
            throw new AssertionError(url.toString(), e);
        }
    }

    private static List<Class<?>> classes(String name, Path folder) throws IOException {
        List<Class<?>> classes = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (String file : files.map(each -> each.getFileName().toString())
                    .filter(each -> each.endsWith(".class") && !each.contains("-")).sorted().toList()) {
                // Not initialised: only its declaration is read.
                classes.add(Class.forName(name + "." + file.substring(0, file.length() - ".class".length()), false,
                        PublicApiTest.class.getClassLoader()));
            }
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
        return classes;
    }

    @Test
    void thePagesHaveThePublicDeclarations() throws IOException {
        Map<String, String> pages = new TreeMap<>();
        List<String> modules = new ArrayList<>(published());
        modules.add(WITHOUT_DESCRIPTOR);
        for (String module : modules) {
            pages.put("seriatim-" + module + ".txt", api(module));
        }
        assertTrue(pages.size() >= 10, pages.keySet()::toString);
        if (Boolean.getBoolean(REWRITE)) {
            Files.createDirectories(PAGES);
            for (Map.Entry<String, String> page : pages.entrySet()) {
                Files.writeString(PAGES.resolve(page.getKey()), page.getValue());
            }
        }
        try (Stream<Path> written = Files.list(PAGES)) {
            assertEquals(List.copyOf(pages.keySet()),
                    written.map(page -> page.getFileName().toString()).sorted().toList());
        }
        assertAll(pages.entrySet().stream().map(page -> () -> assertSame(page.getKey(), page.getValue())));
    }

    /** What japicmp compares with the last release: other packages may change, whatever is public in them. */
    @Test
    void exportedPackagesAreComparedWithTheLastRelease() throws IOException {
        List<String> exported = new ArrayList<>(packages(WITHOUT_DESCRIPTOR));
        for (String module : published()) {
            exported.addAll(exports(module));
        }
        List<String> compared = INCLUDE.matcher(Files.readString(ROOT.resolve("pom.xml"))).results()
                .map(each -> each.group(1)).toList();
        assertEquals(exported.stream().sorted().toList(), compared, "japicmp's includes in pom.xml");
    }

    private static void assertSame(String page, String declared) throws IOException {
        List<String> before = Files.readAllLines(PAGES.resolve(page));
        List<String> now = declared.lines().toList();
        List<String> changes = new ArrayList<>();
        before.stream().filter(line -> !now.contains(line)).forEach(line -> changes.add("- " + line));
        now.stream().filter(line -> !before.contains(line)).forEach(line -> changes.add("+ " + line));
        // The lists themselves are too long to read in a message.
        assertTrue(before.equals(now), () -> "The public API has changed:\n" + String.join("\n", changes)
                + "\nIf that is intended, write docs/api/" + page
                + " anew, and review the change of it: mvn -pl examples -am test -Dtest=PublicApiTest -D" + REWRITE
                + "=true -Dsurefire.failIfNoSpecifiedTests=false");
    }
}
