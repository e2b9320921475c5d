/**
 * Means for modules that translate models of other systems into programs: values whose types are known while the
 * program grows, constants that are computed at once, and operations appended with inference.
 */
@NullMarked
package io.seriatim.graph.translate;

import org.jspecify.annotations.NullMarked;
