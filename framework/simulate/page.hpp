// The text of page.html, which the build puts into the library. Internal to simulate/.
#pragma once

namespace cox::simulate {

const char* PageTemplate();

}  // namespace cox::simulate
