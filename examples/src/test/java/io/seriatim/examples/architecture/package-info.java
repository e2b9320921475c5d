/** The drawing of the imports between packages, docs/images/packages.svg. */
@NullMarked
package io.seriatim.examples.architecture;

import org.jspecify.annotations.NullMarked;
