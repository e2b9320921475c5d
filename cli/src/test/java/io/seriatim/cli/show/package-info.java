@NullMarked
package io.seriatim.cli.show;

import org.jspecify.annotations.NullMarked;
