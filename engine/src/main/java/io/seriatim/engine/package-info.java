/**
 * The dependency engine. Start with {@link io.seriatim.engine.Engine}.
 *
 * <p>
 * The public types are the whole API. The implementation is package-private and lies in the same package, so that no
 * type or field has to be public for the sake of another package; {@code sync} holds locks and deadlines. The page
 * docs/architecture.md lists the types in the order in which an operation passes them.
 */
@NullMarked
package io.seriatim.engine;

import org.jspecify.annotations.NullMarked;
